#include "analysis/engine/whatif/gradients/reduction_calls.h"

#include "analysis/engine/whatif/job_lanes.h"
#include "analysis/store/read_rows.h"

#include <cstdint>
#include <utility>

namespace sonde::engine::whatif {
namespace {

struct CallRow {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  std::int64_t streamId = 0;

  SONDE_COLUMNS(threadId, startNs, durNs, streamId)
};

constexpr const char* kLaunchCalls =
    "SELECT l.thread_id, l.start_ns, l.dur_ns, k.stream_id FROM collective c JOIN kernel k ON k.id "
    "= c.kernel_id JOIN slice l ON l.id = k.launch_slice_id WHERE l.dur_ns > 0";
// Calls of waits, and of the records that they wait for.
constexpr const char* kWaitCalls =
    "WITH called(process_id, correlation_id, stream_id) AS (SELECT process_id, correlation_id, "
    "stream_id FROM sync WHERE kind = 'wait' AND stream_id IS NOT NULL UNION SELECT r.process_id, "
    "r.correlation_id, w.stream_id FROM sync w JOIN sync r ON r.id = w.waits_for_id WHERE w.kind = "
    "'wait' AND w.stream_id IS NOT NULL) SELECT l.thread_id, l.start_ns, l.dur_ns, c.stream_id "
    "FROM slice l JOIN thread t ON t.id = l.thread_id JOIN called c ON c.process_id = t.process_id "
    "AND c.correlation_id = l.correlation_id WHERE l.kind = 'api' AND l.dur_ns > 0";

}  // namespace

Result<ThreadSpans> readStreamCalls(const store::Database& trace,
                                    const graph::Graph& graph,
                                    const std::set<graph::LaneIndex>& streams) {
  SONDE_TRY_ASSIGN(const JobLanes lanes, JobLanes::read(trace, graph));
  std::set<std::int64_t> ids;
  for (const graph::LaneIndex lane : streams)
    ids.insert(graph.lanes[lane].id);
  ThreadSpans found;
  for (const char* calls : {kLaunchCalls, kWaitCalls})
    SONDE_TRY(store::forEach<CallRow>(trace, calls, [&](const CallRow& row) {
      const auto call = lanes.ofThread(row);
      if (call && ids.contains(row.streamId))
        found.add(call->lane, call->span);
    }));
  found.join();
  return found;
}

}  // namespace sonde::engine::whatif
