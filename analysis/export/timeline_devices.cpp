// Visit: device work.
#include "analysis/export/timeline_visit.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace sonde::exports {
namespace {

// The work of a stream, in order of time, with the columns that Visit::work() reads.
constexpr std::string_view kWork =
    "SELECT 'kernel' AS owner, id, 'kernel' AS kind, name, start_ns, dur_ns, "
    "(SELECT t.process_id FROM slice s JOIN thread t ON t.id = s.thread_id "
    "WHERE s.id = launch_slice_id) FROM v_kernel WHERE stream_id = ?1 UNION ALL "
    "SELECT 'copy', id, kind, name, start_ns, dur_ns, "
    "(SELECT t.process_id FROM slice s JOIN thread t ON t.id = s.thread_id "
    "WHERE s.id = launch_slice_id) FROM v_copy WHERE stream_id = ?1 UNION ALL "
    "SELECT 'sync', id, kind, kind, start_ns, dur_ns, NULL "
    "FROM sync WHERE stream_id = ?1 ORDER BY start_ns, owner, id";

// CUPTI's number for work without a stream.
constexpr std::int64_t kNoStream = 0xFFFFFFFF;

std::string streamName(std::int64_t number) {
  return number == kNoStream || number < 0 ? "whole device" : fmt::format("stream {}", number);
}

// Events without a stream, and so without a process. Shown in the process of the call with the same
// correlation during which they began; if that is not unique, in the first process with a device.
// The process is the last column.
constexpr std::string_view kDeviceWide =
    "SELECT 'sync', y.id, y.kind, y.kind, y.start_ns, y.dur_ns, NULL, coalesce("
    "(SELECT iif(count(DISTINCT t.process_id) = 1, min(t.process_id), NULL) FROM slice s "
    "JOIN thread t ON t.id = s.thread_id WHERE s.correlation_id = y.correlation_id AND "
    "y.start_ns BETWEEN s.start_ns AND s.start_ns + s.dur_ns), "
    "(SELECT min(process_id) FROM stream), (SELECT min(id) FROM process)) AS process_id "
    "FROM sync y WHERE y.stream_id IS NULL";

}  // namespace

Result<void> Visit::streams() {
  return forEach(
      trace_,
      "SELECT s.id, s.process_id, s.number, s.name, d.ordinal FROM stream s "
      "LEFT JOIN device d ON d.id = s.device_id ORDER BY s.process_id, d.ordinal, s.number, s.id",
      [&](const Statement& row) -> Result<void> {
        TimelineTrack track;
        track.kind = TimelineTrack::Kind::Stream;
        track.id = row.integer(0);
        track.shownPid = shownPids_[row.integer(1)];
        track.shownTid = kMadeStream + track.id;
        track.stream = row.integer(2);
        track.device = row.optionalInteger(4);
        const std::string name = fmt::format("GPU {} {}{}{}",
                                             track.device.value_or(0),
                                             streamName(*track.stream),
                                             row.isNull(3) ? "" : " ",
                                             row.text(3));
        track.name = name;
        showProgress("streams");
        SONDE_TRY(visitor_.track(track));
        SONDE_TRY_ASSIGN(Statement rows, trace_.prepare(kWork));
        return work(rows.bindAll(track.id), track.shownPid);
      });
}

Result<void> Visit::deviceWide() {
  return forEach(
      trace_,
      fmt::format("SELECT DISTINCT process_id FROM ({}) ORDER BY 1", kDeviceWide),
      [&](const Statement& row) -> Result<void> {
        const std::int64_t process = row.integer(0);
        TimelineTrack track;
        track.kind = TimelineTrack::Kind::Stream;
        track.id = -process;  // distinct from all streams' ids
        track.shownPid = shownPid(row, 0).value_or(0);
        track.shownTid = kMadeStream;
        track.name = "device synchronization";
        SONDE_TRY(visitor_.track(track));
        SONDE_TRY_ASSIGN(
            Statement rows,
            trace_.prepare(fmt::format(
                "SELECT * FROM ({}) WHERE process_id IS ? ORDER BY start_ns, id", kDeviceWide)));
        return row.isNull(0) ? work(rows, track.shownPid)
                             : work(rows.bindAll(process), track.shownPid);
      });
}

Result<void> Visit::work(Statement& rows, std::int64_t pid) {
  Lanes lanes;
  return forEach(rows, [&](const Statement& row) -> Result<void> {
    TimelineSpan span;
    const std::string_view owner = row.text(0);
    const std::int64_t id = row.integer(1);
    span.kind = row.text(2);
    span.category = SpanFacts::categoryOf(owner, span.kind);
    span.name = owner == "sync" ? SpanFacts::nameOfSync(span.kind) : row.text(3);
    span.startNs = row.integer(4);
    span.durNs = span.drawnNs = row.optionalInteger(5);
    span.lane = lanes.laneOf(span);
    if (const auto launcher = shownPid(row, 6); launcher != pid)
      span.launcher = launcher;
    SONDE_TRY_ASSIGN(span.args, facts_->argsOfWork(owner, id));
    SONDE_TRY_ASSIGN(span.flows, facts_->flowsOfWork(owner, id, !row.isNull(6)));
    return visitor_.span(span);
  });
}

}  // namespace sonde::exports
