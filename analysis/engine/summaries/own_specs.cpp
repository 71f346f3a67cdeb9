#include "analysis/engine/summaries/own_specs.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::engine::metrics {
namespace {

// Hardware counters by operation: sums over an operation's stretches; other values are weighted by
// time. Values are passed in thousandths.
SummarySpec counterSum(const Limits& limits) {
  constexpr double kThousandths = 1e3;
  Columns columns = {
      {"Operation", From::Label, 0}, {"Metric", From::Label, 1}, {"Instances", From::Count}};
  const std::pair<const char*, From> kParts[] = {{"Avg", From::Average},
                                                 {"Med", From::Median},
                                                 {"Min", From::Least},
                                                 {"Max", From::Greatest},
                                                 {"StdDev", From::Deviation}};
  for (const auto& [title, from] : kParts)
    columns.push_back({title, from, 0, kThousandths});
  return {
      "gpu_counter_sum",
      "GPU Hardware Counter Summary",
      2,
      1,
      fmt::format("SELECT operation, name, CAST(round(1000 * iif(name GLOB '*.sum', sum(value), "
                  "sum(value * dur_ns) / sum(dur_ns))) AS INTEGER) FROM v_device_metric WHERE "
                  "value IS NOT NULL AND slice_id IS NOT NULL AND {} "
                  "GROUP BY process_id, slice_id, name",
                  limits.include("start_ns", "start_ns + dur_ns")),
      columns};
}

SummarySpec operatorSum(const Limits& limits) {
  return {"operator_sum",
          "Operator Summary",
          1,
          1,
          fmt::format("SELECT name, {} FROM v_slice WHERE kind = 'operator' AND "
                      "dur_ns IS NOT NULL AND {}",
                      limits.partOfRow(),
                      limits.includeRow()),
          timeColumns("Instances", {"Name"})};
}

// "Bytes (MB)" and "Waiting (ns)" are sums.
SummarySpec collectiveSum(const Limits& limits) {
  Columns columns = timeColumns("Instances", {});
  columns.push_back({"Bytes (MB)", From::Total, 1, kMega});
  columns.push_back({"Waiting (ns)", From::Total, 2});
  columns.push_back({"Ranks", From::Label, 0});
  columns.push_back({"Backend", From::Label, 1});
  columns.push_back({"Collective", From::Label, 2});
  return {"collective_sum",
          "Collective Summary",
          3,
          3,
          fmt::format("SELECT size, backend, op, {}, bytes, wait_ns FROM v_collective "
                      "WHERE dur_ns IS NOT NULL AND {}",
                      limits.partOfRow(),
                      limits.includeRow()),
          columns};
}

SummarySpec fileSum(const Limits& limits) {
  Columns columns = timeColumns("Num Calls", {});
  columns.push_back({"Bytes (MB)", From::Total, 1, kMega});
  columns.push_back({"Call", From::Label, 0});
  columns.push_back({"File", From::Label, 1});
  return {"file_sum",
          "File Summary",
          2,
          2,
          fmt::format("SELECT call, path, {}, bytes FROM v_io "
                      "WHERE path IS NOT NULL AND dur_ns IS NOT NULL AND {}",
                      limits.partOf("start_ns", "(start_ns + dur_ns)"),
                      limits.include("start_ns", "(start_ns + dur_ns)")),
          columns};
}

}  // namespace

std::vector<SummarySpec> ownSpecs(const Limits& limits) {
  return {counterSum(limits), operatorSum(limits), collectiveSum(limits), fileSum(limits)};
}

}  // namespace sonde::engine::metrics
