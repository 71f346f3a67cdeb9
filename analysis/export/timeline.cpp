#include "analysis/export/timeline.h"

#include "analysis/export/span_facts.h"
#include "analysis/store/open_slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace sonde::exports {
namespace {

using store::Database;
using store::Statement;

// Above every pid and tid of Linux, so that numbers made here meet none of the trace's.
constexpr std::int64_t kMadeProcess = 1LL << 23;
constexpr std::int64_t kMadeThread = 2LL << 23;
constexpr std::int64_t kMadeStream = 3LL << 23;
constexpr std::int64_t kMadeChannel = 4LL << 23;

class Visit {
 public:
  Visit(const Database& trace, TimelineVisitor& visitor, const Progress& progress) noexcept
      : trace_(trace), visitor_(visitor), progress_(progress) {}

  Result<void> all();

 private:
  Result<void> processes();
  Result<void> iterations();
  Result<void> threads();
  Result<void> slices(std::int64_t thread);
  Result<void> streams();
  Result<void> deviceWide();
  Result<void> work(Statement& rows, std::int64_t pid);
  Result<void> channels();
  Result<void> transfers(std::int64_t channel);
  Result<void> counters();
  Result<void> scalars();
  Result<void> samples(Statement& rows);

  void showProgress(std::string_view what);
  model::OptionalInt shownPid(const Statement& row, int column) const;

  const Database& trace_;
  TimelineVisitor& visitor_;
  const Progress& progress_;
  std::optional<SpanFacts> facts_;
  std::int64_t tracks_ = 0;                         // threads and streams
  std::int64_t shown_ = 0;                          // of them
  std::map<std::int64_t, std::int64_t> shownPids_;  // by process
  std::map<std::int64_t, std::int64_t> numbers_;    // of iterations, by slice
};

// Gives spans that overlap lanes of their own.
class Lanes {
 public:
  std::int64_t laneOf(const TimelineSpan& span) {
    const auto lane = std::find_if(
        ends_.begin(), ends_.end(), [&](std::int64_t endNs) { return endNs <= span.startNs; });
    const std::int64_t number = lane - ends_.begin();
    if (lane == ends_.end())
      ends_.push_back(0);
    ends_[static_cast<std::size_t>(number)] =
        span.drawnNs ? span.startNs + *span.drawnNs : std::numeric_limits<std::int64_t>::max();
    return number;
  }

 private:
  std::vector<std::int64_t> ends_;  // of the last span, by lane
};

// Calls `take` with each row.
template <typename Take>
Result<void> forEach(Statement& rows, const Take& take) {
  for (;;) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    SONDE_TRY(take(rows));
  }
}

template <typename Take>
Result<void> forEach(const Database& trace, std::string_view sql, const Take& take) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(sql));
  return forEach(rows, take);
}

Result<void> Visit::processes() {
  std::map<std::int64_t, int> ofPid;
  SONDE_TRY(forEach(trace_, "SELECT pid FROM process", [&](const Statement& row) -> Result<void> {
    ++ofPid[row.integer(0)];
    return {};
  }));
  return forEach(trace_,
                 "SELECT id, pid, rank, world_size, command, host FROM v_process ORDER BY id",
                 [&](const Statement& row) {
                   TimelineProcess process;
                   process.id = row.id<model::ProcessId>(0);
                   process.pid = row.integer(1);
                   process.shownPid =
                       ofPid[process.pid] == 1 ? process.pid : kMadeProcess + process.id.value;
                   process.rank = row.optionalInteger(2);
                   process.worldSize = row.optionalInteger(3);
                   process.name = row.text(4);
                   process.host = row.text(5);
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

// What a stream did, in order of time. Its columns are those that Visit::work() takes.
constexpr std::string_view kWork =
    "SELECT 'kernel' AS owner, id, 'kernel' AS kind, name, start_ns, dur_ns, "
    "(SELECT t.process_id FROM slice s JOIN thread t ON t.id = s.thread_id "
    "WHERE s.id = launch_slice_id) FROM v_kernel WHERE stream_id = ?1 UNION ALL "
    "SELECT 'copy', id, kind, name, start_ns, dur_ns, "
    "(SELECT t.process_id FROM slice s JOIN thread t ON t.id = s.thread_id "
    "WHERE s.id = launch_slice_id) FROM v_copy WHERE stream_id = ?1 UNION ALL "
    "SELECT 'sync', id, kind, kind, start_ns, dur_ns, NULL "
    "FROM sync WHERE stream_id = ?1 ORDER BY start_ns, owner, id";

// CUPTI's number for what is of no stream.
constexpr std::int64_t kNoStream = 0xFFFFFFFF;

std::string streamName(std::int64_t number) {
  return number == kNoStream || number < 0 ? "whole device" : fmt::format("stream {}", number);
}

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

// Of no stream, and so of no process: shown at that of the call of its correlation during which it
// began, or, where that is not the only one, at the first that has a device. The process comes
// last.
constexpr std::string_view kDeviceWide =
    "SELECT 'sync', y.id, y.kind, y.kind, y.start_ns, y.dur_ns, NULL, coalesce("
    "(SELECT iif(count(DISTINCT t.process_id) = 1, min(t.process_id), NULL) FROM slice s "
    "JOIN thread t ON t.id = s.thread_id WHERE s.correlation_id = y.correlation_id AND "
    "y.start_ns BETWEEN s.start_ns AND s.start_ns + s.dur_ns), "
    "(SELECT min(process_id) FROM stream), (SELECT min(id) FROM process)) AS process_id "
    "FROM sync y WHERE y.stream_id IS NULL";

Result<void> Visit::deviceWide() {
  return forEach(
      trace_,
      fmt::format("SELECT DISTINCT process_id FROM ({}) ORDER BY 1", kDeviceWide),
      [&](const Statement& row) -> Result<void> {
        const std::int64_t process = row.integer(0);
        TimelineTrack track;
        track.kind = TimelineTrack::Kind::Stream;
        track.id = -process;  // no stream has it
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
      "SELECT c.id, c.process_id, n.text, c.unit FROM counter c JOIN string n ON n.id = c.name_id "
      "ORDER BY c.id",
      [&](const Statement& row) -> Result<void> {
        TimelineCounter counter;
        counter.id = row.integer(0);
        counter.shownPid = shownPid(row, 1);
        counter.name = row.text(2);
        counter.unit = row.text(3);
        SONDE_TRY(visitor_.counter(counter));
        SONDE_TRY_ASSIGN(Statement rows,
                         trace_.prepare("SELECT ts_ns, value, NULL FROM v_sample "
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

// With each thread and each stream, before its events.
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

}  // namespace

Result<void> visitTimeline(const Database& trace,
                           TimelineVisitor& visitor,
                           const Progress& progress) {
  return Visit(trace, visitor, progress).all();
}

}  // namespace sonde::exports
