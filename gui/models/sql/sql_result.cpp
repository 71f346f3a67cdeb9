#include "gui/models/sql/sql_result.h"

#include "analysis/store/each_row.h"
#include "analysis/store/query/user_query.h"
#include "gui/trace/qtext.h"

#include <algorithm>
#include <chrono>

namespace sonde::gui {
namespace {

using store::ColumnType;
using store::Statement;

QVariant valueOf(const Statement& row, int column) {
  switch (row.columnType(column)) {
    case ColumnType::Integer:
      return QVariant::fromValue<qlonglong>(row.integer(column));
    case ColumnType::Real:
      return row.real(column);
    default:
      return row.isNull(column) ? QVariant() : QVariant(qtext(row.text(column)));
  }
}

// A column is numeric if none of its values is a text.
ValueKind kindOf(const std::vector<ValueRow>& rows, std::size_t column) {
  ValueKind kind = ValueKind::Integer;
  bool isKnown = false;
  for (const ValueRow& row : rows) {
    const QVariant& value = row.values[column];
    if (value.typeId() == QMetaType::QString)
      return ValueKind::Text;
    if (value.typeId() == QMetaType::Double)
      kind = ValueKind::Real;
    isKnown = isKnown || value.isValid();
  }
  return isKnown ? kind : ValueKind::Text;
}

int columnOf(const SqlResult& result, const char* name) {
  const auto found = std::find_if(result.columns.begin(), result.columns.end(), [&](auto& each) {
    return each.title == QLatin1String(name);
  });
  return found == result.columns.end() ? -1 : static_cast<int>(found - result.columns.begin());
}

void addPlaces(SqlResult& result) {
  const int start = columnOf(result, "start_ns");
  const int length = columnOf(result, "dur_ns");
  const int end = columnOf(result, "end_ns");
  if (start < 0)
    return;
  for (ValueRow& row : result.rows) {
    const QVariant& from = row.values[static_cast<std::size_t>(start)];
    if (from.typeId() != QMetaType::LongLong)
      continue;
    std::int64_t to = from.toLongLong();
    if (end >= 0)
      to = std::max<std::int64_t>(to, row.values[static_cast<std::size_t>(end)].toLongLong());
    else if (length >= 0)
      to += row.values[static_cast<std::size_t>(length)].toLongLong();
    row.place.span = Span{from.toLongLong(), to};
  }
}

}  // namespace

Result<SqlResult> runSql(const store::Database& trace, const QString& sql) {
  store::UserQuery query;
  query.sql = sql.toStdString();
  query.limit = std::chrono::minutes(2);
  query.largestValueBytes = 16 << 20;
  SqlResult result;
  const Error enough{ErrorCode::Unsupported, ""};
  const auto done = store::runUserQuery(trace, query, [&](const Statement& row) -> Result<void> {
    if (result.columns.empty())
      for (int column = 0; column < row.columnCount(); ++column)
        result.columns.push_back({qtext(row.columnName(column))});
    if (result.rows.size() == SqlResult::kMostRows) {
      result.isCut = true;
      return enough;
    }
    ValueRow values;
    for (int column = 0; column < row.columnCount(); ++column)
      values.values.push_back(valueOf(row, column));
    result.rows.push_back(std::move(values));
    return {};
  });
  if (!done && !result.isCut)
    return done.error();
  for (std::size_t column = 0; column < result.columns.size(); ++column)
    result.columns[column].kind = kindOf(result.rows, column);
  addPlaces(result);
  return result;
}

Result<std::vector<SqlRelation>> sqlSchema(const store::Database& trace) {
  std::vector<SqlRelation> schema;
  SONDE_TRY(store::forEachRow(
      trace,
      "SELECT s.name, c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c WHERE s.type = "
      "'view' ORDER BY s.name, c.cid",
      [&](const Statement& row) -> Result<void> {
        const QString name = qtext(row.text(0));
        if (schema.empty() || schema.back().name != name)
          schema.push_back({name, {}});
        schema.back().columns << qtext(row.text(1));
        return {};
      }));
  return schema;
}

QStringList sqlWords(const std::vector<SqlRelation>& schema) {
  QStringList names;
  for (const SqlRelation& relation : schema)
    names << relation.name << relation.columns;
  names.sort();
  names.removeDuplicates();
  return QStringList{"SELECT",
                     "FROM",
                     "WHERE",
                     "GROUP BY",
                     "ORDER BY",
                     "LIMIT",
                     "count(*)",
                     "sum",
                     "JOIN",
                     "LEFT JOIN",
                     "HAVING",
                     "DISTINCT",
                     "BETWEEN",
                     "LIKE",
                     "DESC"} +
         names;
}

}  // namespace sonde::gui
