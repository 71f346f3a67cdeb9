// A selected span's totals by name as a sortable table. Main thread.
#pragma once

#include "gui/trace/trace_data.h"

#include <QAbstractTableModel>

#include <vector>

namespace sonde::gui {

class SpanModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { Name, What, Count, Total, Share, Mean, Longest, ColumnCount };

  using QAbstractTableModel::QAbstractTableModel;

  // `spanNs`: the length that shares refer to.
  void show(std::vector<SpanRow> rows, std::int64_t spanNs);

  [[nodiscard]] int rowCount(const QModelIndex& parent) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section,
                                    Qt::Orientation orientation,
                                    int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  [[nodiscard]] QVariant display(const SpanRow& row, int column) const;

  std::vector<SpanRow> rows_;
  std::int64_t spanNs_ = 1;
};

}  // namespace sonde::gui
