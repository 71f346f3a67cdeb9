#include "analysis/engine/whatif/network/driver_times.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sonde::engine::whatif {
namespace {

struct TotalRow {
  std::int64_t threadId = 0;
  std::int64_t processId = 0;
  std::int64_t hostId = 0;
  bool isQueue = false;
  std::int64_t tsNs = 0;
  double value = 0;

  SONDE_COLUMNS(threadId, processId, hostId, isQueue, tsNs, value)
};

struct ChannelRow {
  bool isTcp = false;

  SONDE_COLUMNS(isTcp)
};

constexpr const char* kTotals =
    "SELECT c.thread_id, t.process_id, p.host_id, n.text = 'run queue time' AS is_queue, x.ts_ns, "
    "x.value FROM counter c JOIN string n ON n.id = c.name_id JOIN thread t ON t.id = c.thread_id "
    "JOIN process p ON p.id = t.process_id JOIN sample x ON x.counter_id = c.id WHERE n.text IN "
    "('cpu time', 'run queue time') AND x.value IS NOT NULL";

// The iterations of a process, all on one thread.
struct DriverRun {
  graph::LaneIndex driver = 0;
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
};

std::map<std::int64_t, DriverRun> runsOf(const graph::TraceGraph& job) {
  std::map<std::int64_t, DriverRun> runs;
  for (const graph::IterationNodes& each : job.iterations) {
    const std::int64_t begin = job.graph.beginNs[each.first];
    const std::int64_t end = job.graph.endNs(each.last);
    const auto [found, isFirst] =
        runs.try_emplace(each.processId, DriverRun{job.graph.lane[each.first], begin, end});
    DriverRun& run = found->second;
    run.beginNs = std::min(run.beginNs, begin);
    run.endNs = std::max(run.endNs, end);
  }
  return runs;
}

// A total that grows, between its first and its last sample in a run.
struct Growth {
  double least = 0;
  double most = 0;
  bool isKnown = false;

  void add(double value) {
    least = isKnown ? std::min(least, value) : value;
    most = isKnown ? std::max(most, value) : value;
    isKnown = true;
  }
  double ns() const noexcept { return most - least; }
};

}  // namespace

double DriverTimes::stolenShare() const noexcept {
  const double threads = std::min(queuedNs, othersNs);
  const double stolen = isTcp ? 2 * threads : threads;
  return ownNs > 0 ? std::min(1.0, stolen / (ownNs + queuedNs)) : 0;
}

Result<std::map<graph::LaneIndex, DriverTimes>> readDriverTimes(const store::Database& trace,
                                                                const graph::TraceGraph& job) {
  const std::map<std::int64_t, DriverRun> runs = runsOf(job);
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  std::map<std::int64_t, Growth> queued;                              // by process, of its driver
  std::map<std::pair<std::int64_t, std::int64_t>, Growth> processor;  // by process and thread
  std::map<std::int64_t, Growth> sampled;                             // times, by process
  SONDE_TRY(store::forEach<TotalRow>(trace, kTotals, [&](const TotalRow& row) {
    const auto run = runs.find(row.processId);
    if (run == runs.end())
      return;
    const std::int64_t ns = clock.toJob(row.hostId, row.tsNs);
    if (ns < run->second.beginNs || ns > run->second.endNs)
      return;
    const bool isDriver = job.graph.lanes[run->second.driver].id == row.threadId;
    if (!row.isQueue)
      processor[{row.processId, row.threadId}].add(row.value);
    else if (isDriver)
      queued[row.processId].add(row.value);
    if (isDriver)
      sampled[row.processId].add(static_cast<double>(ns - run->second.beginNs));
  }));
  bool isTcp = false;
  SONDE_TRY(store::forEach<ChannelRow>(
      trace,
      "SELECT EXISTS (SELECT 1 FROM channel WHERE kind = 'tcp') AS is_tcp",
      [&](const ChannelRow& row) { isTcp = row.isTcp; }));
  std::map<std::int64_t, double> all;  // by process
  for (const auto& [key, of] : processor)
    all[key.first] += of.ns();
  std::map<graph::LaneIndex, DriverTimes> found;
  for (const auto& [process, of] : queued) {
    const graph::LaneIndex driver = runs.at(process).driver;
    const double own = processor[{process, job.graph.lanes[driver].id}].ns();
    found[driver] = {sampled[process].ns(), own, of.ns(), all[process] - own, isTcp};
  }
  return found;
}

}  // namespace sonde::engine::whatif
