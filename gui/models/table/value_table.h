// A table of values for views: typed columns that sort and filter, rows that lead to a place in the
// trace, and the same as CSV or Markdown. Main thread.
#pragma once

#include "gui/models/place.h"

#include <QAbstractTableModel>
#include <QString>
#include <QVariant>

#include <vector>

namespace sonde::gui {

// How a column's values are written. All but Text are numbers.
enum class ValueKind : std::uint8_t {
  Text,
  Integer,
  Duration,  // ns
  Share,
  Bytes,
  Real,
  Rate,    // bytes a second
  Scaled,  // with a prefix: "12.3 G"
};

struct ValueColumn {
  QString title;
  ValueKind kind = ValueKind::Text;
  QString hint = {};  // for the tooltip of the header
};

struct ValueRow {
  std::vector<QVariant> values;  // one a column; invalid: unknown
  Place place = {};              // where it leads
};

class ValueTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  // The value itself, for sorting and tests.
  static constexpr int kValueRole = Qt::UserRole;

  explicit ValueTable(std::vector<ValueColumn> columns, QObject* parent = nullptr);

  void show(std::vector<ValueRow> rows);
  // With other columns.
  void show(std::vector<ValueColumn> columns, std::vector<ValueRow> rows);
  [[nodiscard]] const std::vector<ValueColumn>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<ValueRow>& rows() const { return rows_; }

  [[nodiscard]] int rowCount(const QModelIndex& parent) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section,
                                    Qt::Orientation orientation,
                                    int role) const override;

 private:
  std::vector<ValueColumn> columns_;
  std::vector<ValueRow> rows_;
};

// "1.2 ms", "34.5 %"; an invalid value is "".
[[nodiscard]] QString textOf(const QVariant& value, ValueKind kind);
// Requires: `kind` is not Text.
[[nodiscard]] QString numberText(double value, ValueKind kind);

// The rows of `model`, as they are sorted and filtered, in full precision: durations in ns, shares
// as fractions. RFC 4180.
[[nodiscard]] QString toCsv(const QAbstractItemModel& model);
// As they are displayed.
[[nodiscard]] QString toMarkdown(const QAbstractItemModel& model);

}  // namespace sonde::gui
