// Runs a SELECT of the user over the trace, for the view of it, and lists the names that it may
// use. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/table/value_table.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace sonde::gui {

struct SqlResult {
  static constexpr std::size_t kMostRows = 10'000;
  std::vector<ValueColumn> columns;
  std::vector<ValueRow> rows;
  bool isCut = false;  // there are more rows
};

// A row with the columns start_ns and dur_ns, or end_ns, leads to that time: the views have job
// time. Errors as runUserQuery().
[[nodiscard]] Result<SqlResult> runSql(const store::Database& trace, const QString& sql);

// A documented view of the trace.
struct SqlRelation {
  QString name;
  QStringList columns;
};
// By name.
[[nodiscard]] Result<std::vector<SqlRelation>> sqlSchema(const store::Database& trace);
// Words to complete: the views, their columns, and keywords.
[[nodiscard]] QStringList sqlWords(const std::vector<SqlRelation>& schema);

}  // namespace sonde::gui
