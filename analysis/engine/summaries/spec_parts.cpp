#include "analysis/engine/summaries/spec_parts.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::engine::metrics {

void addSpread(Columns& columns,
               std::size_t value,
               const std::string& prefix,
               const std::string& unit,
               double scale) {
  const std::pair<const char*, From> kParts[] = {{"Avg", From::Average},
                                                 {"Med", From::Median},
                                                 {"Min", From::Least},
                                                 {"Max", From::Greatest},
                                                 {"StdDev", From::Deviation}};
  for (const auto& [name, from] : kParts)
    columns.push_back({fmt::format("{}{} ({})", prefix, name, unit), from, value, scale});
}

Columns timeColumns(const std::string& count, const std::vector<std::string>& labels) {
  Columns columns = {{"Time (%)", From::Share}, {"Total Time (ns)", From::Total}};
  columns.push_back({count, From::Count});
  addSpread(columns, 0);
  for (std::size_t label = 0; label < labels.size(); ++label)
    columns.push_back({labels[label], From::Label, label});
  return columns;
}

std::string Limits::include(const std::string& begin, const std::string& end) const {
  return within_ ? fmt::format("({0} < {3} AND ({1} > {2} OR {0} >= {2}))",
                               begin,
                               end,
                               within_->begin,
                               within_->end)
                 : "true";
}

std::string Limits::includeRow(const std::string& row) const {
  return include(row + "start_ns", row + "end_ns");
}

std::string Limits::partOf(const std::string& begin, const std::string& end) const {
  return within_ ? fmt::format("CASE WHEN {} THEN min({}, {}) - max({}, {}) END",
                               include(begin, end),
                               end,
                               within_->end,
                               begin,
                               within_->begin)
                 : fmt::format("{} - {}", end, begin);
}

std::string Limits::partOfRow(const std::string& row) const {
  return within_ ? partOf(row + "start_ns", row + "end_ns") : row + "dur_ns";
}

std::string Limits::begin() const {
  return within_ ? fmt::format("max(start_ns, {})", within_->begin) : "start_ns";
}

std::string Limits::end() const {
  return within_ ? fmt::format("min(end_ns, {})", within_->end) : "end_ns";
}

}  // namespace sonde::engine::metrics
