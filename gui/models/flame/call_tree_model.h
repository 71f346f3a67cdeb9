// A tree of calls as an item model, without an object for each node: an index holds the node's
// number. Children can be sorted by any column. Main thread.
#pragma once

#include "analysis/engine/callpaths/call_tree.h"
#include "gui/models/table/value_table.h"

#include <QAbstractItemModel>

#include <memory>
#include <vector>

namespace sonde::gui {

class CallTreeModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { Name, Total, Self, Share, Count, ColumnCount };
  using Node = engine::callpaths::CallNode;
  using Tree = std::shared_ptr<const engine::callpaths::CallTree>;

  using QAbstractItemModel::QAbstractItemModel;

  // nullptr: nothing. `unit`: of the times.
  void show(Tree tree, ValueKind unit);
  [[nodiscard]] const Tree& tree() const { return tree_; }
  // Requires: the index is valid, or the tree has the node.
  [[nodiscard]] static Node nodeOf(const QModelIndex& index);
  [[nodiscard]] QModelIndex indexOf(Node node) const;

  [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section,
                                    Qt::Orientation orientation,
                                    int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  [[nodiscard]] QVariant valueOf(Node node, int column) const;
  void arrange();

  Tree tree_;
  ValueKind unit_ = ValueKind::Duration;
  int sortColumn_ = Total;
  Qt::SortOrder sortOrder_ = Qt::DescendingOrder;
  // The children of a node are neighbours in the tree; here they are in the order of the rows.
  std::vector<Node> order_;
  std::vector<Node> rows_;  // by node
};

}  // namespace sonde::gui
