// Sorts the rows of a ValueTable by their values, and keeps those that contain all words of a text.
// Main thread.
#pragma once

#include "gui/models/focus.h"

#include <QSortFilterProxyModel>
#include <QString>
#include <QStringList>

namespace sonde::gui {

class RowFilter : public QSortFilterProxyModel {
  Q_OBJECT

 public:
  explicit RowFilter(QObject* parent = nullptr);

  // Words that a row must contain in any column, ignoring case.
  void setText(const QString& text);
  // Leaves out rows whose place is of another rank, operation or name.
  void setPart(const Focus::Part& part);
  [[nodiscard]] const Focus::Part& part() const { return part_; }
  // Rows of the table that are of the part, whatever the text.
  [[nodiscard]] int rowsOfPart() const;

 protected:
  [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
  // Unknown values come last in descending order.
  [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

 private:
  [[nodiscard]] bool isRowOfPart(int row) const;
  [[nodiscard]] bool contains(int row, const QString& text) const;

  QStringList words_;
  Focus::Part part_;
};

}  // namespace sonde::gui
