// Nsight Systems' summary tables, with its names, columns and units ("cuda_gpu_kern_sum", "Total
// Time (ns)"). Read from a trace on the caller's thread; memory grows with the events of the
// largest group.
//
// Source: docs.nvidia.com/nsight-systems, "nsys stats".
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sonde::engine::metrics {

struct SummaryColumn {
  enum class Kind { Text, Id, Number };
  std::string title;
  Kind kind = Kind::Number;
  int decimals = 1;  // shown of fractional values
};

using SummaryCell = std::variant<std::monostate, std::int64_t, double, std::string>;

struct SummaryTable {
  std::string_view name;
  std::string_view title;
  std::vector<SummaryColumn> columns;
  std::vector<std::vector<SummaryCell>> rows;  // the largest total first
};

struct SummaryName {
  std::string_view name;
  std::string_view title;
};
// In display order.
std::vector<SummaryName> summaryNames();

// `within`: job time. Events count if they share time with it, and their times are clipped to it;
// their bytes are not. NotFound: there is no summary of this name.
Result<SummaryTable> summarise(const store::Database& trace,
                               std::string_view name,
                               const std::optional<Interval>& within = {});

}  // namespace sonde::engine::metrics
