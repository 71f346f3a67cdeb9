#include "analysis/engine/metrics/operations.h"

#include "analysis/engine/metrics/statistics.h"
#include "analysis/store/statement.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sonde::engine::metrics {
namespace {

struct Gathered {
  std::vector<std::int64_t> durations;
  std::map<std::int64_t, Intervals> byThread;
};

OperationTime summed(std::string kind, std::string name, Gathered gathered, std::int64_t windowNs) {
  OperationTime operation{std::move(kind), std::move(name)};
  std::sort(gathered.durations.begin(), gathered.durations.end());
  operation.count = static_cast<std::int64_t>(gathered.durations.size());
  operation.p50Ns = percentile(gathered.durations, 0.5);
  operation.p95Ns = percentile(gathered.durations, 0.95);
  for (auto& [thread, intervals] : gathered.byThread)
    operation.ns += totalLength(normalise(std::move(intervals)));
  operation.share =
      windowNs > 0 ? static_cast<double>(operation.ns) / static_cast<double>(windowNs) : 0;
  return operation;
}

}  // namespace

Result<std::vector<OperationTime>> operationsOf(const store::Database& trace,
                                                const RankProcess& rank) {
  // torch.profiler's span of its own is no operation of the program.
  SONDE_TRY_ASSIGN(
      store::Statement rows,
      trace.prepare(
          "SELECT s.kind, n.text, s.thread_id, s.start_ns, s.start_ns + s.dur_ns FROM thread t"
          " JOIN slice s ON s.thread_id = t.id JOIN string n ON n.id = s.name_id"
          " WHERE t.process_id = ?1 AND s.dur_ns IS NOT NULL AND s.kind NOT IN ('iteration', "
          "'mark') AND NOT (s.category = 'Trace' AND n.text GLOB 'PyTorch Profiler (*')"));
  rows.bind(1, rank.processId);
  std::map<std::pair<std::string, std::string>, Gathered> gathered;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    // What lies outside the iterations (start, last evaluation) has no share in them.
    const Interval time{std::max(rows.integer(3), rank.window.begin),
                        std::min(rows.integer(4), rank.window.end)};
    if (time.end < time.begin)
      continue;
    Gathered& group = gathered[{std::string(rows.text(0)), std::string(rows.text(1))}];
    group.durations.push_back(rows.integer(4) - rows.integer(3));
    group.byThread[rows.integer(2)].push_back(time);
  }
  std::vector<OperationTime> operations;
  operations.reserve(gathered.size());
  for (auto& [key, group] : gathered)
    operations.push_back(
        summed(key.first, key.second, std::move(group), rank.window.end - rank.window.begin));
  std::sort(
      operations.begin(), operations.end(), [](const OperationTime& a, const OperationTime& b) {
        return std::tie(b.ns, a.kind, a.name) < std::tie(a.ns, b.kind, b.name);
      });
  return operations;
}

}  // namespace sonde::engine::metrics
