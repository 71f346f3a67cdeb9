// The summary tables of `sonde stats` for the view of tables. Plain values; reading uses the
// database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/table/value_table.h"

#include <string>
#include <vector>

namespace sonde::gui {

struct SummaryTitle {
  std::string name;  // for summaryRows()
  QString title;
};
[[nodiscard]] std::vector<SummaryTitle> summaryTitles();

struct SummaryRows {
  std::vector<ValueColumn> columns;
  std::vector<ValueRow> rows;
};
// Rows have the name of their events as their place. NotFound: there is no such table.
[[nodiscard]] Result<SummaryRows> summaryRows(const store::Database& trace,
                                              const std::string& name);

}  // namespace sonde::gui
