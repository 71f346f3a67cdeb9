// Columns and conditions that the definitions of summary tables share. Within engine/summaries.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/engine/summaries/summary_specs.h"

#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::metrics {

using Columns = std::vector<SummarySource>;

inline constexpr double kMega = 1e6;

// "Avg (ns)" and similar columns of one value.
void addSpread(Columns& columns,
               std::size_t value,
               const std::string& prefix = "",
               const std::string& unit = "ns",
               double scale = 1);

// "Time (%)", "Total Time (ns)", the count, the spread, and the labels.
Columns timeColumns(const std::string& count, const std::vector<std::string>& labels);

// Limits queries to a range of job time, or to nothing. `row`: the alias of a row, with a point.
class Limits {
 public:
  explicit Limits(const std::optional<Interval>& within) : within_(within) {}

  // A condition: the time shares some with the range. An instant belongs to the range that it
  // begins.
  std::string include(const std::string& begin, const std::string& end) const;
  std::string includeRow(const std::string& row = "") const;
  // The length of the part in the range; NULL if there is none.
  std::string partOf(const std::string& begin, const std::string& end) const;
  std::string partOfRow(const std::string& row = "") const;
  std::string begin() const;
  std::string end() const;

 private:
  std::optional<Interval> within_;
};

}  // namespace sonde::engine::metrics
