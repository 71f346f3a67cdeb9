#include "analysis/engine/metrics/operations.h"

#include "analysis/engine/statistics/statistics.h"
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

OperationTime summed(std::string kind,
                     std::string name,
                     Gathered gathered,
                     const Intervals& counted) {
  const std::int64_t windowNs = totalLength(counted);
  OperationTime operation{std::move(kind), std::move(name)};
  std::sort(gathered.durations.begin(), gathered.durations.end());
  operation.count = static_cast<std::int64_t>(gathered.durations.size());
  operation.p50Ns = percentile(gathered.durations, 0.5);
  operation.p95Ns = percentile(gathered.durations, 0.95);
  operation.p99Ns = percentile(gathered.durations, 0.99);
  for (auto& [thread, intervals] : gathered.byThread)
    operation.ns += totalLength(intersect(normalise(std::move(intervals)), counted));
  operation.share =
      windowNs > 0 ? static_cast<double>(operation.ns) / static_cast<double>(windowNs) : 0;
  return operation;
}

}  // namespace

Result<std::vector<OperationTime>> operationsOf(const store::Database& trace,
                                                const RankProcess& rank,
                                                const Clock& clock) {
  // torch.profiler's own span is not an operation of the program.
  SONDE_TRY_ASSIGN(
      store::Statement rows,
      trace.prepare(
          "SELECT s.kind, n.text, s.thread_id, s.start_ns, s.dur_ns FROM thread t"
          " JOIN slice s ON s.thread_id = t.id JOIN string n ON n.id = s.name_id"
          " WHERE t.process_id = ?1 AND s.dur_ns >= 0 AND s.kind NOT IN ('iteration', "
          "'mark') AND NOT (s.category = 'Trace' AND n.text GLOB 'PyTorch Profiler (*')"));
  rows.bind(1, rank.processId);
  std::map<std::pair<std::string, std::string>, Gathered> gathered;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    SONDE_TRY_ASSIGN(const Interval recorded, intervalOf(rows.integer(3), rows.integer(4)));
    // Operations outside the iterations (start, last evaluation) do not count.
    if (recorded.begin > rank.window.end || recorded.end < rank.window.begin ||
        holds(rank.masked, recorded.begin))
      continue;
    const std::int64_t thread = rows.integer(2);
    const Interval time{clock.ofThread(thread, recorded.begin),
                        clock.ofThread(thread, recorded.end)};
    Gathered& group = gathered[{std::string(rows.text(0)), std::string(rows.text(1))}];
    group.durations.push_back(time.end - time.begin);
    group.byThread[thread].push_back(time);
  }
  const Intervals counted = countedOf(byClock(rank, clock));
  std::vector<OperationTime> operations;
  operations.reserve(gathered.size());
  for (auto& [key, group] : gathered)
    operations.push_back(summed(key.first, key.second, std::move(group), counted));
  std::sort(
      operations.begin(), operations.end(), [](const OperationTime& a, const OperationTime& b) {
        return std::tie(b.ns, a.kind, a.name) < std::tie(a.ns, b.kind, b.name);
      });
  return operations;
}

}  // namespace sonde::engine::metrics
