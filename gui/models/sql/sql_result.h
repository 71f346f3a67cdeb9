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
  static constexpr std::size_t kMostRows = 100'000;
  std::vector<ValueColumn> columns;
  std::vector<ValueRow> rows;
  bool isCut = false;  // there are more rows
};

// A row with the columns start_ns and dur_ns, or end_ns, leads to that time: the views have job
// time. Errors as runUserQuery().
[[nodiscard]] Result<SqlResult> runSql(const store::Database& trace, const QString& sql);

// Words to complete: the documented views, their columns, and keywords.
[[nodiscard]] Result<QStringList> sqlWords(const store::Database& trace);

}  // namespace sonde::gui
