#include "gui/models/span_model.h"

#include "gui/trace/time_format.h"

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

std::int64_t meanOf(const SpanRow& row) {
  return row.count == 0 ? 0 : row.totalNs / row.count;
}

bool less(const SpanRow& a, const SpanRow& b, int column) {
  switch (column) {
    case SpanModel::Name:
      return a.name < b.name;
    case SpanModel::What:
      return a.kind < b.kind;
    case SpanModel::Count:
      return a.count < b.count;
    case SpanModel::Mean:
      return meanOf(a) < meanOf(b);
    case SpanModel::Longest:
      return a.maxNs < b.maxNs;
    default:
      return a.totalNs < b.totalNs;
  }
}

}  // namespace

void SpanModel::show(std::vector<SpanRow> rows, std::int64_t spanNs) {
  beginResetModel();
  rows_ = std::move(rows);
  spanNs_ = std::max<std::int64_t>(spanNs, 1);
  endResetModel();
}

int SpanModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int SpanModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant SpanModel::display(const SpanRow& row, int column) const {
  switch (column) {
    case Name:
      return row.name;
    case What:
      return row.bytes > 0 ? wordOf(row.kind) + ", " + formatBytes(row.bytes) : wordOf(row.kind);
    case Count:
      return QVariant::fromValue<qlonglong>(row.count);
    case Total:
      return formatDuration(row.totalNs);
    case Share:
      return QStringLiteral("%1 %").arg(
          100.0 * static_cast<double>(row.totalNs) / static_cast<double>(spanNs_), 0, 'f', 1);
    case Mean:
      return formatDuration(meanOf(row));
    default:
      return formatDuration(row.maxNs);
  }
}

QVariant SpanModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid())
    return {};
  if (role == Qt::TextAlignmentRole && index.column() >= Count)
    return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole)
    return {};
  return display(rows_.at(static_cast<std::size_t>(index.row())), index.column());
}

QVariant SpanModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
    return {};
  const QStringList titles = {tr("Name"),
                              tr("Kind"),
                              tr("Count"),
                              tr("Total"),
                              tr("Of the span"),
                              tr("Mean"),
                              tr("Longest")};
  return titles.value(section);
}

void SpanModel::sort(int column, Qt::SortOrder order) {
  emit layoutAboutToBeChanged();
  std::stable_sort(rows_.begin(), rows_.end(), [&](const SpanRow& a, const SpanRow& b) {
    return order == Qt::AscendingOrder ? less(a, b, column) : less(b, a, column);
  });
  emit layoutChanged();
}

}  // namespace sonde::gui
