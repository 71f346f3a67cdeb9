#include "analysis/ingest/spool/device_launches.h"

#include "analysis/ingest/rows/state_codec.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace sonde::ingest {
namespace {

using store::Database;
using store::Statement;

// Clocks of devices deviate a little from the host's, and records come late.
constexpr std::int64_t kSlackNs = 60'000'000'000;

// A call this long ago belongs to an earlier round of the numbers. They repeat after 2^32 calls,
// and a process makes at most one call per microsecond (71 minutes). No work waits so long in a
// stream, but the record of the right launch may be lost.
constexpr std::int64_t kRoundNs = (std::int64_t{1} << 32) * 1000;

// If nested calls have one correlation (a runtime's and a driver's), the outer one counts, whatever
// is between them. A compilation has its launch's correlation but is not a launch.
constexpr std::string_view kLaunches =
    "CREATE TEMP TABLE launch AS SELECT t.process_id, s.correlation_id, s.start_ns, s.id, "
    "s.scope_id, s.thread_id, s.start_ns + s.dur_ns AS end_ns FROM slice s JOIN thread t ON t.id = "
    "s.thread_id WHERE s.correlation_id IS NOT NULL AND s.kind = 'api' AND s.category IN "
    "('cuda_runtime', 'cuda_driver');"
    "CREATE INDEX temp.launch_by_correlation ON launch(process_id, correlation_id, start_ns);"
    "DELETE FROM temp.launch WHERE id IN (SELECT i.id FROM temp.launch i JOIN temp.launch o ON "
    "o.process_id = i.process_id AND o.correlation_id = i.correlation_id AND o.start_ns <= "
    "i.start_ns WHERE o.thread_id = i.thread_id AND o.end_ns >= i.end_ns AND (o.start_ns < "
    "i.start_ns OR o.end_ns > i.end_ns OR o.id < i.id));";

// Finds the call of a row. {0}: its process; {1}: its correlation; {2}: its time, negative if only
// an upper bound is known; {3}: the requested columns of `launch` l.
constexpr std::string_view kLaunchOf =
    "SELECT {3} FROM temp.launch l WHERE l.process_id = {0} AND l.correlation_id = {1} AND "
    "l.start_ns BETWEEN iif({2} = 0, 0, abs({2}) - {5}) AND iif({2} = 0, 9223372036854775807, "
    "abs({2}) + {4}) ORDER BY l.start_ns DESC LIMIT 1";

std::string launchOf(std::string_view process,
                     std::string_view correlation,
                     std::string_view time,
                     std::string_view columns) {
  return fmt::format(
      fmt::runtime(kLaunchOf), process, correlation, time, columns, kSlackNs, kRoundNs);
}

Result<void> joinWork(Database& trace, std::string_view table) {
  const std::string launch = launchOf(
      fmt::format("(SELECT process_id FROM stream WHERE id = {}.stream_id)", table),
      fmt::format("{}.correlation_id", table),
      fmt::format("{}.start_ns", table),
      fmt::format("l.id, l.scope_id, iif({0}.start_ns > 0, {0}.start_ns - l.start_ns, NULL)",
                  table));
  SONDE_TRY(trace.exec(
      fmt::format("UPDATE {} SET (launch_slice_id, scope_id, launch_delay_ns) = ({}) WHERE "
                  "launch_slice_id IS NULL AND correlation_id IS NOT NULL",
                  table,
                  launch)));
  // Work that had not begun when its process ended gets the time of its launch.
  return trace.exec(fmt::format(
      "UPDATE {0} SET start_ns = coalesce((SELECT s.start_ns + coalesce(s.dur_ns, 0) FROM slice s "
      "WHERE s.id = {0}.launch_slice_id), (SELECT p.end_ns FROM stream r JOIN process p ON p.id = "
      "r.process_id WHERE r.id = {0}.stream_id), -start_ns) WHERE start_ns <= 0",
      table));
}

Result<void> joinAllocations(Database& trace) {
  return trace.exec(
      fmt::format("UPDATE allocation SET (slice_id, scope_id) = ({}) WHERE slice_id IS NULL AND "
                  "correlation_id IS NOT NULL",
                  launchOf("allocation.process_id",
                           "allocation.correlation_id",
                           "allocation.alloc_ns",
                           "l.id, l.scope_id")));
}

Result<void> timeRecords(Database& trace) {
  return trace.exec(fmt::format(
      "UPDATE sync SET start_ns = coalesce(({}), -start_ns) WHERE start_ns <= 0",
      launchOf("sync.process_id", "sync.correlation_id", "sync.start_ns", "l.start_ns")));
}

constexpr std::string_view kJoinWaits =
    "CREATE TEMP TABLE event_record AS SELECT process_id, event_id, start_ns, id FROM sync WHERE "
    "kind = 'record' AND event_id IS NOT NULL;"
    "CREATE INDEX temp.event_record_by_time ON event_record(process_id, event_id, start_ns);"
    "UPDATE sync SET waits_for_id = (SELECT r.id FROM temp.event_record r WHERE r.process_id = "
    "sync.process_id AND r.event_id = sync.event_id AND r.start_ns <= sync.start_ns ORDER BY "
    "r.start_ns DESC LIMIT 1) WHERE waits_for_id IS NULL AND kind IN ('wait', 'event') AND "
    "event_id IS NOT NULL;"
    "DROP TABLE temp.event_record;";

Result<void> joinExternalIds(Database& trace) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare("SELECT value FROM ingest_state WHERE kind = ?1"));
  SONDE_TRY_ASSIGN(Statement find, trace.prepare(launchOf("?1", "?2", "?3", "l.id")));
  SONDE_TRY_ASSIGN(
      Statement insert,
      trace.prepare(
          "INSERT INTO arg(owner, owner_id, key_id, value) VALUES ('slice', ?1, ?2, ?3)"));
  rows.bindAll(kExternalIds);
  // A runtime call and the driver call in it both report ids; they count once here.
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> told;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      break;
    const auto given = StateUnpacker(rows.text(0)).get<ExternalId>();
    SONDE_TRY_ASSIGN(const bool found,
                     find.bindAll(given.process, given.correlation, given.heardNs).step());
    const bool isNew = found && told.emplace(find.integer(0), given.key, given.id).second;
    if (isNew)
      SONDE_TRY(insert.bindAll(find.integer(0), given.key, given.id).run());
    find.reset();
  }
  return trace.exec(fmt::format("DELETE FROM ingest_state WHERE kind = '{}'", kExternalIds));
}

}  // namespace

Result<void> joinLaunches(Database& trace) {
  SONDE_TRY_ASSIGN(
      const std::int64_t any,
      trace.queryInteger("SELECT EXISTS (SELECT 1 FROM kernel WHERE launch_slice_id IS NULL) OR "
                         "EXISTS (SELECT 1 FROM copy WHERE launch_slice_id IS NULL) OR EXISTS "
                         "(SELECT 1 FROM sync) OR EXISTS (SELECT 1 FROM allocation WHERE "
                         "correlation_id IS NOT NULL) OR EXISTS "
                         "(SELECT 1 FROM ingest_state WHERE kind = 'external')"));
  if (any == 0)
    return {};
  SONDE_TRY(trace.exec(kLaunches));
  for (const std::string_view table : {"kernel", "copy"})
    SONDE_TRY(joinWork(trace, table));
  SONDE_TRY(joinAllocations(trace));
  SONDE_TRY(timeRecords(trace));
  SONDE_TRY(trace.exec(kJoinWaits));
  SONDE_TRY(joinExternalIds(trace));
  return trace.exec("DROP TABLE temp.launch");
}

}  // namespace sonde::ingest
