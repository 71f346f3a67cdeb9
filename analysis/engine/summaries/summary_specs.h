// The definition of each summary table: a query and its columns. Within engine/summaries.
#pragma once

#include "analysis/engine/intervals/intervals.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::metrics {

// The source of a column's cells. A group is all rows with the same labels.
enum class From {
  Label,     // of the group
  Count,     // events of the group
  Distinct,  // different values
  Present,   // values that are not NULL
  Share,     // of the group's total in the total of all groups, in %
  Total,
  Average,
  Median,
  Least,
  Greatest,
  Deviation,  // standard deviation of a sample
};

struct SummarySource {
  std::string title;
  From from = From::Label;
  std::size_t index = 0;  // of the label, or of the value
  double scale = 1;       // divisor of values
};

struct SummarySpec {
  std::string_view name;
  std::string_view title;
  std::size_t labels = 1;  // leading columns of the query; the others are values
  std::size_t values = 1;
  std::string query;  // rows in any order
  std::vector<SummarySource> columns;
  std::string slices{};  // for makeHeldSlices(), whose tables the query reads; empty: not used
};

// `within`: job time. Queries then have only the events that share time with it, and the part of
// their times that lies in it.
std::vector<SummarySpec> summarySpecs(const std::optional<Interval>& within = {});

}  // namespace sonde::engine::metrics
