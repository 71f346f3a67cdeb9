#include "gui/models/table/value_table.h"

#include "gui/trace/time_format.h"

#include <QLocale>
#include <QStringList>

#include <cmath>
#include <iterator>
#include <utility>

namespace sonde::gui {
namespace {

QString csvCell(QString text) {
  if (!text.contains(u',') && !text.contains(u'"') && !text.contains(u'\n') &&
      !text.contains(u'\r'))
    return text;
  return u'"' + text.replace(u'"', QStringLiteral("\"\"")) + u'"';
}

QString markdownCell(QString text) {
  text.replace(u'\\', QStringLiteral("\\\\")).replace(u'|', QStringLiteral("\\|"));
  return text.replace(u'\n', u' ').replace(u'\r', u' ');
}

// Four digits and a prefix of 1000s: "12.35 G".
QString scaledText(double value) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  while (std::abs(value) >= 1000 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  const QString digits = QString::number(value, 'g', 4);
  return prefix == 0 ? digits : digits + QChar(0xa0) + QLatin1String(kPrefixes[prefix]);
}

QString headerOf(const QAbstractItemModel& model, int column) {
  return model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
}

}  // namespace

QString textOf(const QVariant& value, ValueKind kind) {
  if (!value.isValid())
    return {};
  switch (kind) {
    case ValueKind::Text:
      return value.toString();
    case ValueKind::Integer:
      return QStringLiteral("%L1").arg(value.toLongLong());
    case ValueKind::Duration:
      return formatDuration(value.toLongLong());
    case ValueKind::Share:
      return QStringLiteral("%1 %").arg(100 * value.toDouble(), 0, 'f', 1);
    case ValueKind::Bytes:
      return formatBytes(value.toLongLong());
    case ValueKind::Real:
      return QString::number(value.toDouble(), 'g', 4);
    case ValueKind::Rate:
      return formatBytes(std::llround(value.toDouble())) + QStringLiteral("/s");
    case ValueKind::Scaled:
      return scaledText(value.toDouble());
  }
  return {};
}

QString numberText(double value, ValueKind kind) {
  return kind == ValueKind::Share || kind == ValueKind::Real || kind == ValueKind::Scaled
             ? textOf(value, kind)
             : textOf(QVariant::fromValue<qlonglong>(std::llround(value)), kind);
}

ValueTable::ValueTable(std::vector<ValueColumn> columns, QObject* parent)
    : QAbstractTableModel(parent), columns_(std::move(columns)) {}

void ValueTable::show(std::vector<ValueColumn> columns, std::vector<ValueRow> rows) {
  beginResetModel();
  columns_ = std::move(columns);
  rows_ = std::move(rows);
  endResetModel();
}

void ValueTable::show(std::vector<ValueRow> rows) {
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

int ValueTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ValueTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant ValueTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid())
    return {};
  const ValueColumn& column = columns_.at(static_cast<std::size_t>(index.column()));
  const ValueRow& row = rows_.at(static_cast<std::size_t>(index.row()));
  const QVariant& value = row.values.at(static_cast<std::size_t>(index.column()));
  switch (role) {
    case Qt::DisplayRole:
      return textOf(value, column.kind);
    case Qt::ToolTipRole:
      return column.kind == ValueKind::Duration && value.isValid()
                 ? formatExactNs(value.toLongLong())
                 : textOf(value, column.kind);
    case Qt::TextAlignmentRole:
      if (column.kind != ValueKind::Text)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
      return {};
    case kValueRole:
      return value;
    default:
      return {};
  }
}

QVariant ValueTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount({}))
    return {};
  const ValueColumn& column = columns_.at(static_cast<std::size_t>(section));
  if (role == Qt::DisplayRole)
    return column.title;
  if (role == Qt::ToolTipRole && !column.hint.isEmpty())
    return column.hint;
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue((column.kind == ValueKind::Text ? Qt::AlignLeft : Qt::AlignRight) |
                               Qt::AlignVCenter);
  return {};
}

QString toCsv(const QAbstractItemModel& model) {
  QString csv;
  const auto addLine = [&](const auto& cellOf) {
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column)
      cells << csvCell(cellOf(column));
    csv += cells.join(u',') + QStringLiteral("\r\n");
  };
  addLine([&](int column) { return headerOf(model, column); });
  for (int row = 0; row < model.rowCount(); ++row)
    addLine([&](int column) {
      return model.index(row, column).data(ValueTable::kValueRole).toString();
    });
  return csv;
}

QString toMarkdown(const QAbstractItemModel& model) {
  QString text;
  const auto addLine = [&](const auto& cellOf) {
    for (int column = 0; column < model.columnCount(); ++column)
      text += QStringLiteral("| ") + cellOf(column) + u' ';
    text += QStringLiteral("|\n");
  };
  addLine([&](int column) { return markdownCell(headerOf(model, column)); });
  addLine([&](int column) {
    const QVariant align = model.headerData(column, Qt::Horizontal, Qt::TextAlignmentRole);
    return align.value<Qt::Alignment>().testFlag(Qt::AlignRight) ? QStringLiteral("---:")
                                                                 : QStringLiteral("---");
  });
  for (int row = 0; row < model.rowCount(); ++row)
    addLine([&](int column) { return markdownCell(model.index(row, column).data().toString()); });
  return text;
}

}  // namespace sonde::gui
