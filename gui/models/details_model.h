// The details of one event as a tree of two columns: sections with names and values.
//
// There are no node objects: a row's internal id is its section's number plus one; a section's is
// zero. Main thread.
#pragma once

#include "gui/trace/trace_data.h"

#include <QAbstractItemModel>

#include <vector>

namespace sonde::gui {

class DetailsModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  using QAbstractItemModel::QAbstractItemModel;

  void show(std::vector<DetailsSection> sections);
  void clear() { show({}); }

  [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section,
                                    Qt::Orientation orientation,
                                    int role) const override;

 private:
  std::vector<DetailsSection> sections_;
};

}  // namespace sonde::gui
