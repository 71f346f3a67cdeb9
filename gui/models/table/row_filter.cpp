#include "gui/models/table/row_filter.h"

#include "gui/models/table/value_table.h"

#include <algorithm>

namespace sonde::gui {

RowFilter::RowFilter(QObject* parent) : QSortFilterProxyModel(parent) {
  setSortRole(ValueTable::kValueRole);
  setSortCaseSensitivity(Qt::CaseInsensitive);
}

void RowFilter::setText(const QString& text) {
  words_ = text.split(u' ', Qt::SkipEmptyParts);
  invalidateFilter();
}

bool RowFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
    for (int column = 0; column < sourceModel()->columnCount(parent); ++column)
      if (sourceModel()
              ->index(row, column, parent)
              .data()
              .toString()
              .contains(word, Qt::CaseInsensitive))
        return true;
    return false;
  });
}

bool RowFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const QVariant one = left.data(sortRole());
  const QVariant other = right.data(sortRole());
  if (!one.isValid() || !other.isValid())
    return !one.isValid() && other.isValid();
  return QSortFilterProxyModel::lessThan(left, right);
}

}  // namespace sonde::gui
