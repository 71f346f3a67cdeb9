#include "analysis/engine/whatif/job_collectives.h"

#include "analysis/engine/whatif/job_lanes.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sonde::engine::whatif {
namespace {

struct PartRow {
  std::string jobKey;
  std::int64_t seq = 0;
  std::string op;
  std::int64_t bytes = 0;
  std::int64_t size = 0;
  std::int64_t threadId = 0;
  std::int64_t streamId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t callNs = 0;
  std::string type;

  SONDE_COLUMNS(jobKey, seq, op, bytes, size, threadId, streamId, startNs, endNs, callNs, type)
};

// A kernel's time, or that of the call if no kernel runs the collective.
constexpr const char* kCollectiveRows =
    "SELECT g.job_key, c.seq, c.op, c.bytes, g.size, s.thread_id, k.stream_id, "
    "coalesce(k.start_ns, "
    "c.start_ns) AS start_ns, coalesce(k.start_ns + k.dur_ns, c.start_ns + c.dur_ns) AS end_ns, "
    "coalesce(l.start_ns, k.start_ns, c.start_ns) AS call_ns, coalesce(c.dtype, '') AS type FROM "
    "collective c JOIN communicator g ON g.id = c.communicator_id LEFT JOIN slice s ON s.id = "
    "c.slice_id LEFT JOIN kernel k ON k.id = c.kernel_id LEFT JOIN slice l ON l.id = "
    "k.launch_slice_id WHERE c.seq IS NOT NULL AND c.bytes > 0 AND g.size > 1 AND c.op NOT IN "
    "('send', 'receive') AND (k.dur_ns IS NOT NULL OR (k.id IS NULL AND "
    "g.backend <> 'nccl' AND c.dur_ns IS NOT NULL))";

}  // namespace

std::int64_t JobCollective::lastArrivalNs() const noexcept {
  std::int64_t last = parts.front().beginNs;
  for (const CollectivePart& each : parts)
    last = std::max(last, each.beginNs);
  return last;
}

std::int64_t JobCollective::endNs() const noexcept {
  std::int64_t last = parts.front().endNs;
  for (const CollectivePart& each : parts)
    last = std::max(last, each.endNs);
  return last;
}

Result<std::vector<JobCollective>> readCollectives(const store::Database& trace,
                                                   const graph::TraceGraph& job) {
  SONDE_TRY_ASSIGN(const JobLanes lanes, JobLanes::read(trace, job.graph));
  std::map<CollectiveKey, JobCollective> byKey;
  SONDE_TRY(store::forEach<PartRow>(trace, kCollectiveRows, [&](const PartRow& row) {
    const auto part = row.streamId != 0 ? lanes.onStream(row.streamId, row.startNs, row.endNs)
                                        : lanes.onThread(row.threadId, row.startNs, row.endNs);
    if (!part)
      return;
    JobCollective& of = byKey[{row.jobKey, row.seq, row.op}];
    of.communicator = row.jobKey;
    of.seq = row.seq;
    of.op = row.op;
    of.bytes = std::max(of.bytes, row.bytes);
    of.ranks = row.size;
    of.type = row.type;
    of.isOnDevice = row.streamId != 0;
    const std::int64_t queuedNs = row.startNs - row.callNs;
    of.parts.push_back(
        {part->lane, part->span.beginNs, part->span.endNs, part->span.beginNs - queuedNs});
  }));
  std::vector<JobCollective> found;
  found.reserve(byKey.size());
  const auto rankOf = [&](const CollectivePart& part) {
    return std::pair(job.graph.lanes[part.lane].rank, job.graph.lanes[part.lane].processId);
  };
  for (auto& [key, each] : byKey) {
    std::sort(
        each.parts.begin(),
        each.parts.end(),
        [&](const CollectivePart& a, const CollectivePart& b) { return rankOf(a) < rankOf(b); });
    found.push_back(std::move(each));
  }
  std::stable_sort(found.begin(), found.end(), [](const JobCollective& a, const JobCollective& b) {
    return a.lastArrivalNs() < b.lastArrivalNs();
  });
  return found;
}

}  // namespace sonde::engine::whatif
