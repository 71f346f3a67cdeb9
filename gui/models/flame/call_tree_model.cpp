#include "gui/models/flame/call_tree_model.h"

#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sonde::gui {

using engine::callpaths::CallTree;
using engine::callpaths::kRoot;

void CallTreeModel::show(Tree tree, ValueKind unit) {
  beginResetModel();
  tree_ = std::move(tree);
  unit_ = unit;
  arrange();
  endResetModel();
}

void CallTreeModel::arrange() {
  const std::size_t size = tree_ == nullptr ? 0 : tree_->size();
  order_.resize(size);
  rows_.assign(size, 0);
  std::iota(order_.begin(), order_.end(), Node{0});
  if (sortColumn_ == Total && sortOrder_ == Qt::DescendingOrder) {  // the tree's own order
    for (Node node = 1; node < size; ++node)
      rows_[node] = node - tree_->firstChild[tree_->parents[node]];
    return;
  }
  const auto compare = [&](Node a, Node b) {
    const CallTree& tree = *tree_;
    switch (sortColumn_) {
      case Name:
        return tree.textOf(a).compare(tree.textOf(b));
      case Self:
        return tree.selfNs[a] < tree.selfNs[b] ? -1 : int{tree.selfNs[a] > tree.selfNs[b]};
      case Count:
        return tree.counts[a] < tree.counts[b] ? -1 : int{tree.counts[a] > tree.counts[b]};
      default:
        return tree.totalNs[a] < tree.totalNs[b] ? -1 : int{tree.totalNs[a] > tree.totalNs[b]};
    }
  };
  for (Node node = 0; node < size; ++node) {
    const auto begin = order_.begin() + tree_->firstChild[node];
    const auto end = begin + tree_->childCount[node];
    std::stable_sort(begin, end, [&](Node a, Node b) {
      return sortOrder_ == Qt::AscendingOrder ? compare(a, b) < 0 : compare(a, b) > 0;
    });
    for (auto at = begin; at != end; ++at)
      rows_[*at] = static_cast<Node>(at - begin);
  }
}

CallTreeModel::Node CallTreeModel::nodeOf(const QModelIndex& index) {
  return index.isValid() ? static_cast<Node>(index.internalId()) : kRoot;
}

QModelIndex CallTreeModel::indexOf(Node node) const {
  return node == kRoot ? QModelIndex()
                       : createIndex(static_cast<int>(rows_[node]), 0, quintptr{node});
}

QModelIndex CallTreeModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent))
    return {};
  const Node child = order_[tree_->firstChild[nodeOf(parent)] + static_cast<Node>(row)];
  return createIndex(row, column, quintptr{child});
}

QModelIndex CallTreeModel::parent(const QModelIndex& child) const {
  return child.isValid() ? indexOf(tree_->parents[nodeOf(child)]) : QModelIndex();
}

int CallTreeModel::rowCount(const QModelIndex& parent) const {
  if (tree_ == nullptr || parent.column() > 0)
    return 0;
  return static_cast<int>(tree_->childCount[nodeOf(parent)]);
}

int CallTreeModel::columnCount(const QModelIndex& /*parent*/) const {
  return ColumnCount;
}

QVariant CallTreeModel::valueOf(Node node, int column) const {
  switch (column) {
    case Name:
      return qtext(tree_->textOf(node));
    case Total:
      return QVariant::fromValue<qlonglong>(tree_->totalNs[node]);
    case Self:
      return QVariant::fromValue<qlonglong>(tree_->selfNs[node]);
    case Count:
      return QVariant::fromValue<qlonglong>(tree_->counts[node]);
    default:
      break;
  }
  const std::int64_t whole = tree_->totalNs[kRoot];
  return whole > 0 ? static_cast<double>(tree_->totalNs[node]) / static_cast<double>(whole) : 0.0;
}

QVariant CallTreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid())
    return {};
  QVariant value = valueOf(nodeOf(index), index.column());
  const ValueKind kinds[] = {ValueKind::Text, unit_, unit_, ValueKind::Share, ValueKind::Integer};
  const ValueKind kind = kinds[index.column()];
  switch (role) {
    case Qt::DisplayRole:
      return textOf(value, kind);
    case Qt::ToolTipRole:
      return kind == ValueKind::Duration ? formatExactNs(value.toLongLong()) : textOf(value, kind);
    case Qt::TextAlignmentRole:
      return index.column() == Name ? QVariant()
                                    : QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    case ValueTable::kValueRole:
      return value;
    default:
      return {};
  }
}

QVariant CallTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
    return {};
  const bool isBytes = unit_ == ValueKind::Bytes;
  const QString titles[] = {
      tr("name"), isBytes ? tr("bytes") : tr("total"), tr("self"), tr("share"), tr("count")};
  if (role == Qt::DisplayRole)
    return titles[section];
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue((section == Name ? Qt::AlignLeft : Qt::AlignRight) |
                               Qt::AlignVCenter);
  return {};
}

void CallTreeModel::sort(int column, Qt::SortOrder order) {
  emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  sortColumn_ = column == Share ? int{Total} : column;
  sortOrder_ = order;
  arrange();
  QModelIndexList after;
  for (const QModelIndex& index : before) {
    const Node node = nodeOf(index);
    after << createIndex(static_cast<int>(rows_[node]), index.column(), quintptr{node});
  }
  changePersistentIndexList(before, after);
  emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

}  // namespace sonde::gui
