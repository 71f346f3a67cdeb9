// What each summary table is made of: a query and its columns. Within engine/metrics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::metrics {

// Where a column's cells come from. A group is what has the same labels.
enum class From {
  Label,     // of the group
  Count,     // events of the group
  Distinct,  // different values
  Present,   // values that are there
  Share,     // of the group's total in that of all groups, in %
  Total,
  Average,
  Median,
  Least,
  Greatest,
  Deviation,  // standard, of a sample
};

struct SummarySource {
  std::string title;
  From from = From::Label;
  std::size_t index = 0;  // of the label, or of the value
  double scale = 1;       // what values are divided by
};

struct SummarySpec {
  std::string_view name;
  std::string_view title;
  std::size_t labels = 1;  // leading columns of the query; the others are values
  std::size_t values = 1;
  std::string query;  // rows in any order
  std::vector<SummarySource> columns;
  std::string slices{};  // for makeHeldSlices(), whose tables the query reads; empty: none
};

const std::vector<SummarySpec>& summarySpecs();

}  // namespace sonde::engine::metrics
