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

void RowFilter::setPart(const Focus::Part& part) {
  part_ = part;
  invalidateFilter();
}

bool RowFilter::contains(int row, const QString& text) const {
  for (int column = 0; column < sourceModel()->columnCount(); ++column)
    if (sourceModel()->index(row, column).data().toString().contains(text, Qt::CaseInsensitive))
      return true;
  return false;
}

bool RowFilter::isRowOfPart(int row) const {
  const auto& rows = static_cast<const ValueTable*>(sourceModel())->rows();
  return part_.isAll() || isOf(rows[static_cast<std::size_t>(row)].place, part_);
}

int RowFilter::rowsOfPart() const {
  int count = 0;
  for (int row = 0; row < sourceModel()->rowCount(); ++row)
    count += isRowOfPart(row) ? 1 : 0;
  return count;
}

bool RowFilter::filterAcceptsRow(int row, const QModelIndex& /*parent*/) const {
  return isRowOfPart(row) && std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
           return contains(row, word);
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
