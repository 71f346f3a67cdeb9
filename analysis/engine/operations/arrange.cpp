#include "analysis/engine/operations/arrange.h"

#include "analysis/store/read_rows.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sonde::engine::operations {
namespace {

struct MovedSlice {
  std::int64_t id = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;

  SONDE_COLUMNS(id, threadId, startNs, endNs)
};

// The signs keep SQLite from reading along an index that the updates change.
constexpr const char* kSlices =
    "SELECT id, thread_id, start_ns, start_ns + ifnull(dur_ns, 0) AS end_ns FROM slice ORDER BY "
    "+thread_id, +start_ns, +dur_ns DESC, id";

constexpr const char* kFitIterations =
    "UPDATE iteration SET start_ns = x.begin_ns, dur_ns = x.end_ns - x.begin_ns FROM (SELECT "
    "t.process_id, CASE WHEN json_valid(a.value) THEN json_extract(a.value, '$.step') END AS step, "
    "min(s.start_ns) AS begin_ns, max(s.start_ns + ifnull(s.dur_ns, 0)) AS end_ns FROM slice s "
    "JOIN thread t ON t.id = s.thread_id JOIN arg a ON a.owner = 'slice' AND a.owner_id = s.id AND "
    "a.key_id = (SELECT id FROM string WHERE text = 'args') GROUP BY 1, 2) AS x WHERE x.process_id "
    "= iteration.process_id AND x.step = iteration.number";

}  // namespace

Result<void> arrangeOperations(store::Database& trace) {
  SONDE_TRY_ASSIGN(
      store::Statement update,
      trace.prepare("UPDATE slice SET parent_id = NULL, depth = 0, lane = ?2 WHERE id = ?1"));
  std::int64_t thread = 0;
  std::vector<std::int64_t> busyUntil;  // by lane
  SONDE_TRY(store::forEach<MovedSlice>(trace, kSlices, [&](const MovedSlice& row) -> Result<void> {
    if (row.threadId != thread)
      busyUntil.clear();
    thread = row.threadId;
    auto lane = std::find_if(
        busyUntil.begin(), busyUntil.end(), [&](auto ns) { return ns <= row.startNs; });
    if (lane == busyUntil.end())
      lane = busyUntil.insert(lane, row.endNs);
    *lane = row.endNs;
    return update.bindAll(row.id, lane - busyUntil.begin()).run();
  }));
  return trace.exec(kFitIterations);
}

}  // namespace sonde::engine::operations
