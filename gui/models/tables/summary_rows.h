// The summary tables of `sonde stats` for the view of tables. Plain values; reading uses the
// database's thread.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/table/value_table.h"

#include <optional>
#include <string>
#include <vector>

namespace sonde::gui {

struct SummaryTitle {
  std::string name;  // for summaryRows()
  QString title;
};
[[nodiscard]] std::vector<SummaryTitle> summaryTitles();

struct SummaryRows {
  std::string name;
  std::vector<ValueColumn> columns;
  std::vector<ValueRow> rows;
};
// The same numbers as `sonde stats --time`. Rows have the name of their events as their place.
// `name`: if empty, kernels, or else operators, or else ranges. `within`: job time. NotFound: there
// is no such table.
[[nodiscard]] Result<SummaryRows> summaryRows(
    const store::Database& trace,
    const std::string& name,
    const std::optional<engine::metrics::Interval>& within = {});

}  // namespace sonde::gui
