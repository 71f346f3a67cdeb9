#include "analysis/export/timeline.h"

#include "analysis/export/timeline_visit.h"
#include "analysis/store/open_slice.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

namespace sonde::exports {

Result<void> Visit::processes() {
  std::map<std::int64_t, int> ofPid;
  SONDE_TRY(forEach(trace_, "SELECT pid FROM process", [&](const Statement& row) -> Result<void> {
    ++ofPid[row.integer(0)];
    return {};
  }));
  return forEach(
      trace_,
      "SELECT id, pid, rank, world_size, command, host, host_id FROM v_process ORDER BY id",
      [&](const Statement& row) {
        TimelineProcess process;
        process.id = row.id<model::ProcessId>(0);
        process.pid = row.integer(1);
        process.shownPid = ofPid[process.pid] == 1 ? process.pid : kMadeProcess + process.id.value;
        process.rank = row.optionalInteger(2);
        process.worldSize = row.optionalInteger(3);
        process.name = row.text(4);
        process.host = row.text(5);
        process.hostId = row.id<model::HostId>(6);
        shownPids_[process.id.value] = process.shownPid;
        return visitor_.process(process);
      });
}

Result<void> Visit::iterations() {
  return forEach(trace_,
                 "SELECT slice_id, number FROM iteration WHERE slice_id IS NOT NULL",
                 [&](const Statement& row) -> Result<void> {
                   numbers_.emplace(row.integer(0), row.integer(1));
                   return {};
                 });
}

Result<void> Visit::threads() {
  struct Row {
    TimelineTrack track;
    std::string name;
  };
  std::vector<Row> rows;
  std::map<std::pair<std::int64_t, std::int64_t>, int> ofTid;
  SONDE_TRY(forEach(trace_,
                    "SELECT id, process_id, tid, name FROM v_thread ORDER BY process_id, id",
                    [&](const Statement& row) -> Result<void> {
                      Row& thread = rows.emplace_back();
                      thread.track.id = row.integer(0);
                      thread.track.shownPid = shownPids_[row.integer(1)];
                      thread.track.tid = row.integer(2);
                      thread.track.shownTid = row.integer(2);
                      thread.name = row.text(3);
                      ++ofTid[{thread.track.shownPid, thread.track.shownTid}];
                      return {};
                    }));
  for (Row& row : rows) {
    TimelineTrack& track = row.track;
    showProgress("threads");
    if (ofTid[{track.shownPid, track.shownTid}] > 1)
      track.shownTid = kMadeThread + track.id;
    track.name = row.name;
    SONDE_TRY(visitor_.track(track));
    SONDE_TRY(slices(track.id));
  }
  return {};
}

Result<void> Visit::slices(std::int64_t thread) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace_.prepare(fmt::format("SELECT id, kind, category, name, start_ns, dur_ns, lane, depth, "
                                 "correlation_id, {} FROM v_slice s WHERE thread_id = ? "
                                 "ORDER BY start_ns, lane, depth, id",
                                 store::drawnSql("s"))));
  return forEach(rows.bindAll(thread), [&](const Statement& row) -> Result<void> {
    TimelineSpan span;
    const std::int64_t id = row.integer(0);
    span.kind = row.text(1);
    span.category = row.text(2);
    span.name = row.text(3);
    span.startNs = row.integer(4);
    span.durNs = row.optionalInteger(5);
    span.drawnNs = row.optionalInteger(9);
    span.lane = row.integer(6);
    span.depth = row.integer(7);
    if (const auto number = numbers_.find(id); number != numbers_.end())
      span.iteration = number->second;
    const model::OptionalInt correlation = row.optionalInteger(8);
    SONDE_TRY_ASSIGN(span.args, facts_->argsOfSlice(id, correlation));
    SONDE_TRY_ASSIGN(span.flows, facts_->flowsOfSlice(id, correlation));
    return visitor_.span(span);
  });
}

Result<void> Visit::channels() {
  return forEach(trace_,
                 "SELECT id, process_id, kind, local, remote FROM v_channel c WHERE EXISTS "
                 "(SELECT 1 FROM transfer t WHERE t.channel_id = c.id) ORDER BY process_id, id",
                 [&](const Statement& row) -> Result<void> {
                   TimelineTrack track;
                   track.kind = TimelineTrack::Kind::Channel;
                   track.id = row.integer(0);
                   track.shownPid = shownPids_[row.integer(1)];
                   track.shownTid = kMadeChannel + track.id;
                   const std::string name =
                       fmt::format("{} {} to {}", row.text(2), row.text(3), row.text(4));
                   track.name = name;
                   SONDE_TRY(visitor_.track(track));
                   return transfers(track.id);
                 });
}

Result<void> Visit::transfers(std::int64_t channel) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace_.prepare("SELECT direction, offset, bytes, start_ns, dur_ns "
                                  "FROM v_transfer WHERE channel_id = ? ORDER BY start_ns, id"));
  Lanes lanes;
  return forEach(rows.bindAll(channel), [&](const Statement& row) {
    TimelineSpan span;
    span.kind = "transfer";
    span.category = "net";
    span.name = row.text(0);
    span.startNs = row.integer(3);
    span.durNs = span.drawnNs = row.optionalInteger(4);
    span.lane = lanes.laneOf(span);
    const std::string args =
        fmt::format(R"({{"offset":{},"bytes":{}}})", row.integer(1), row.integer(2));
    span.args = args;
    return visitor_.span(span);
  });
}

Result<void> Visit::samples(Statement& rows) {
  return forEach(rows, [&](const Statement& row) {
    const auto value = row.optionalReal(1);
    return visitor_.sample(row.integer(0),
                           value.value_or(std::numeric_limits<double>::quiet_NaN()),
                           row.optionalInteger(2));
  });
}

Result<void> Visit::counters() {
  return forEach(
      trace_,
      // Counters with one name in a process get a suffix for their device or thread. For a total
      // the rate is shown.
      "SELECT c.id, c.process_id, n.text || iif(EXISTS (SELECT 1 FROM counter o WHERE o.process_id "
      "IS c.process_id AND o.name_id = c.name_id AND o.id <> c.id), coalesce(' (' || d.kind || ' ' "
      "|| d.ordinal || ')', ' (thread ' || t.tid || ')', ''), ''), iif(c.kind = 'gauge', c.unit, "
      "iif(c.unit = 'ns', '1', c.unit || '/s')), c.kind = 'total' FROM counter c JOIN string n ON "
      "n.id = c.name_id LEFT JOIN device d ON d.id = c.device_id LEFT JOIN thread t ON t.id = "
      "c.thread_id ORDER BY c.id",
      [&](const Statement& row) -> Result<void> {
        TimelineCounter counter;
        counter.id = row.integer(0);
        counter.shownPid = shownPid(row, 1);
        counter.name = row.text(2);
        counter.unit = row.text(3);
        SONDE_TRY(visitor_.counter(counter));
        SONDE_TRY_ASSIGN(
            Statement rows,
            trace_.prepare(row.integer(4) != 0 ? "SELECT ts_ns, rate, NULL FROM v_rate "
                                                 "WHERE counter_id = ? ORDER BY ts_ns"
                                               : "SELECT ts_ns, value, NULL FROM v_sample "
                                                 "WHERE counter_id = ? ORDER BY ts_ns"));
        return samples(rows.bindAll(counter.id));
      });
}

Result<void> Visit::scalars() {
  SONDE_TRY_ASSIGN(const std::int64_t last,
                   trace_.queryInteger("SELECT coalesce(max(id), 0) FROM counter"));
  std::int64_t made = last;
  return forEach(trace_,
                 "SELECT DISTINCT process_id, name FROM v_scalar ORDER BY process_id, name",
                 [&](const Statement& row) -> Result<void> {
                   TimelineCounter counter;
                   counter.id = ++made;
                   counter.shownPid = shownPid(row, 0);
                   counter.kind = "scalar";
                   counter.name = row.text(1);
                   SONDE_TRY(visitor_.counter(counter));
                   SONDE_TRY_ASSIGN(
                       Statement rows,
                       trace_.prepare("SELECT ts_ns, value, iteration FROM v_scalar "
                                      "WHERE process_id = ? AND name = ? ORDER BY ts_ns"));
                   return samples(rows.bindAll(row.integer(0), row.text(1)));
                 });
}

// Called with each thread and each stream, before its events.
void Visit::showProgress(std::string_view what) {
  progress_(what, static_cast<double>(shown_++) / static_cast<double>(tracks_));
}

model::OptionalInt Visit::shownPid(const Statement& row, int column) const {
  const auto known = shownPids_.find(row.integer(column));
  return known == shownPids_.end() ? model::OptionalInt{} : known->second;
}

Result<void> Visit::all() {
  SONDE_TRY_ASSIGN(facts_, SpanFacts::open(trace_));
  SONDE_TRY_ASSIGN(tracks_,
                   trace_.queryInteger("SELECT (SELECT count(*) FROM thread) + "
                                       "(SELECT count(*) FROM stream)"));
  SONDE_TRY(processes());
  SONDE_TRY(iterations());
  SONDE_TRY(threads());
  SONDE_TRY(streams());
  SONDE_TRY(deviceWide());
  progress_("channels", 1);
  SONDE_TRY(channels());
  SONDE_TRY(counters());
  return scalars();
}

Result<void> visitTimeline(const Database& trace,
                           TimelineVisitor& visitor,
                           const Progress& progress) {
  return Visit(trace, visitor, progress).all();
}

}  // namespace sonde::exports
