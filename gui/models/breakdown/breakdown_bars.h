// A breakdown of the job's time as bars and their parts, for the view of it. Plain values; reading
// uses the database's thread.
#pragma once

#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/place.h"
#include "gui/models/table/value_table.h"
#include "gui/trace/trace_data.h"

#include <QHash>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::gui {

// The dimension that each bar, or each of its parts, has a value of.
enum class BreakdownBy : std::uint8_t {
  Process,
  Thread,
  Phase,
  Operation,
  Module,
  Iteration,
  Category,
  Resource
};
[[nodiscard]] QString titleOf(BreakdownBy by);

struct BreakdownBar {
  QString label;
  std::vector<std::int64_t> ns;  // by part
  std::int64_t sumNs = 0;
  std::int64_t lowNs = 0;  // of the sum: 95 %
  std::int64_t highNs = 0;
  Place place{};
};

struct BreakdownBars {
  QStringList parts;               // the largest first
  QHash<QString, Kind> kinds;      // of the parts that are one phase, operation or module
  QString outside;                 // the part outside of these; empty: parts are something else
  std::vector<BreakdownBar> bars;  // in the order of iterations or ranks, else the longest first
  std::int64_t totalNs = 0;
  bool isCorrected = false;
};

struct BreakdownRequest {
  BreakdownBy bars{};
  BreakdownBy parts{};
  Focus::Part part{};                                 // only its rank and operation
  std::optional<engine::metrics::Interval> within{};  // job time; unset: all
  bool isCorrected = true;                            // where the cost of recording is known
};
// The same numbers as `sonde breakdown --by … --time`, or with `--raw` if times are not to be
// corrected. Errors as breakDown().
[[nodiscard]] Result<BreakdownBars> readBreakdown(const store::Database& trace,
                                                  const BreakdownRequest& request);

[[nodiscard]] std::vector<ValueColumn> breakdownColumns();
[[nodiscard]] std::vector<ValueRow> breakdownRows(const BreakdownBars& bars);

}  // namespace sonde::gui
