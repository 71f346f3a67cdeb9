#include "analysis/finalise/event_stacks.h"

namespace sonde::store {
namespace {

// Both times come from the same ticks, but were converted with the clock data known at their
// storage. If several events began that close together, the nearest is taken.
constexpr const char* kSliceSql =
    "UPDATE slice SET stack_id = (SELECT y.stack_id FROM (SELECT x.stack_id, abs(x.ts_ns - "
    "slice.start_ns) AS off FROM stack_sample x WHERE x.thread_id = slice.thread_id AND x.ts_ns "
    "BETWEEN slice.start_ns - 500 AND slice.start_ns + 500 AND x.kind IN ('blocked', 'event') AND "
    "x.correlation_id IS NULL) y ORDER BY y.off LIMIT 1) WHERE stack_id IS NULL AND kind IN "
    "('wait', 'io', 'collective') AND "
    "EXISTS (SELECT 1 FROM stack_sample WHERE kind IN ('blocked', 'event'))";

constexpr const char* kAllocationSql =
    "UPDATE allocation SET stack_id = (SELECT y.stack_id FROM (SELECT x.stack_id, abs(x.ts_ns - "
    "allocation.alloc_ns) AS off FROM stack_sample x WHERE x.thread_id = allocation.thread_id AND "
    "x.ts_ns BETWEEN allocation.alloc_ns - 500 AND allocation.alloc_ns + 500 AND x.kind = 'event' "
    "AND x.correlation_id IS NULL) y ORDER BY y.off LIMIT 1) WHERE stack_id IS NULL AND thread_id "
    "IS NOT NULL AND EXISTS "
    "(SELECT 1 FROM stack_sample WHERE kind = 'event')";

// Correlations repeat when CUPTI restarts, and in a long job. So the call must also have about the
// same time. The stack's time is CUPTI's callback, the call's is by its own clock.
constexpr const char* kCallSql =
    "CREATE TEMP TABLE call_stack(thread_id, correlation_id, ts_ns, stack_id, PRIMARY KEY("
    "thread_id, correlation_id, ts_ns)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO temp.call_stack SELECT thread_id, correlation_id, ts_ns, stack_id FROM "
    "stack_sample WHERE correlation_id IS NOT NULL AND stack_id IS NOT NULL;"
    "UPDATE slice SET stack_id = (SELECT y.stack_id FROM (SELECT c.stack_id, abs(c.ts_ns - "
    "slice.start_ns) AS off FROM temp.call_stack c WHERE c.thread_id = slice.thread_id AND "
    "c.correlation_id = slice.correlation_id) y WHERE y.off < 1000000000 ORDER BY y.off LIMIT 1) "
    "WHERE kind = 'api' AND "
    "correlation_id IS NOT NULL AND stack_id IS NULL AND EXISTS (SELECT 1 FROM temp.call_stack);"
    "DROP TABLE temp.call_stack;";

constexpr const char* kDeviceAllocationSql =
    "UPDATE allocation SET stack_id = (SELECT s.stack_id FROM slice s WHERE s.id = "
    "allocation.slice_id) WHERE stack_id IS NULL AND slice_id IS NOT NULL AND EXISTS (SELECT 1 "
    "FROM stack_sample WHERE correlation_id IS NOT NULL)";

}  // namespace

Result<void> placeEventStacks(Database& trace) {
  SONDE_TRY(trace.exec(kSliceSql));
  SONDE_TRY(trace.exec(kAllocationSql));
  SONDE_TRY(trace.exec(kCallSql));
  return trace.exec(kDeviceAllocationSql);
}

}  // namespace sonde::store
