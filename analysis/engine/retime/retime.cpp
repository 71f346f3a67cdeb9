#include "analysis/engine/retime/retime.h"

#include "analysis/engine/retime/timed_tables.h"
#include "analysis/finalise/finaliser.h"
#include "analysis/store/read_rows.h"
#include "analysis/store/trace_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sonde::engine::retime {
namespace {

namespace fs = std::filesystem;
using store::Database;
using store::Statement;

struct IterationRow {
  std::int64_t id = 0;
  std::int64_t processId = 0;
  std::int64_t number = 0;
  std::int64_t startNs = 0;
  std::optional<std::int64_t> endNs;
  std::int64_t sliceId = 0;
  std::int64_t threadId = 0;

  SONDE_COLUMNS(id, processId, number, startNs, endNs, sliceId, threadId)
};

struct SliceRow {
  std::int64_t id = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::optional<std::int64_t> endNs;
  std::int64_t parentId = 0;
  std::int64_t depth = 0;

  SONDE_COLUMNS(id, threadId, startNs, endNs, parentId, depth)
};

struct WorkRow {
  std::int64_t id = 0;
  std::int64_t streamId = 0;
  std::int64_t startNs = 0;
  std::optional<std::int64_t> endNs;
  std::optional<std::int64_t> launchDelayNs;
  std::optional<std::int64_t> queuedNs;
  std::optional<std::int64_t> submittedNs;
  std::int64_t launchThreadId = 0;
  std::optional<std::int64_t> launchedNs;

  SONDE_COLUMNS(id,
                streamId,
                startNs,
                endNs,
                launchDelayNs,
                queuedNs,
                submittedNs,
                launchThreadId,
                launchedNs)
};

struct CollectiveRow {
  std::int64_t id = 0;
  std::int64_t processId = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::optional<std::int64_t> endNs;
  std::optional<std::int64_t> waitNs;
  std::optional<std::int64_t> transferNs;
  std::int64_t kernelId = 0;  // 0: its times are not those of a kernel

  SONDE_COLUMNS(id, processId, threadId, startNs, endNs, waitNs, transferNs, kernelId)
};

// A slice that others may be in.
struct Open {
  std::int64_t id = 0;
  RowSpan span;
};

// Moves the rows of a trace that a graph has as nodes.
class Mover {
 public:
  Mover(Database& trace, const RowTimes& times) : trace_(trace), times_(times) {}

  Result<void> move(const Progress& progress) {
    progress("moving events", 0);
    SONDE_TRY(moveTables(trace_, times_));
    SONDE_TRY(moveCollectives());
    progress("moving the work of devices", 0.3);
    SONDE_TRY(moveWork(false));
    SONDE_TRY(moveWork(true));
    progress("moving slices", 0.5);
    SONDE_TRY(moveIterations());
    return moveSlices();
  }

 private:
  Result<void> moveCollectives();
  Result<void> moveWork(bool isCopy);
  Result<void> moveIterations();
  Result<void> moveSlices();
  RowSpan spanOf(const SliceRow& row, const RowSpan* parent) const;

  Database& trace_;
  const RowTimes& times_;
  std::unordered_map<std::int64_t, RowSpan> ofSlices_;  // of iterations, by slice
};

Result<void> Mover::moveCollectives() {
  SONDE_TRY_ASSIGN(Statement update,
                   trace_.prepare("UPDATE collective SET start_ns = ?2, dur_ns = ?3 - ?2, wait_ns "
                                  "= ?4, transfer_ns = ?5 WHERE id = ?1"));
  constexpr std::string_view kRows =
      "SELECT x.id, x.process_id, s.thread_id, x.start_ns, x.start_ns + x.dur_ns AS end_ns, "
      "x.wait_ns, x.transfer_ns, k.id AS kernel_id FROM collective x NOT INDEXED LEFT JOIN slice s "
      "ON s.id = x.slice_id LEFT JOIN kernel k ON k.id = x.kernel_id AND k.start_ns = x.start_ns";
  return store::forEach<CollectiveRow>(
      trace_, kRows, [&](const CollectiveRow& row) -> Result<void> {
        const RowPlace place{row.threadId, row.processId, 0};
        RowSpan moved = times_.ofRow(place, {row.startNs, row.endNs});
        std::optional<std::int64_t> wait = row.waitNs;
        std::optional<std::int64_t> transfer = row.transferNs;
        const auto work =
            row.kernelId == 0
                ? std::nullopt
                : times_.ofWork(false, row.kernelId, row.startNs, row.endNs.value_or(row.startNs));
        if (work) {
          moved = {work->beginNs, row.endNs ? std::optional(work->endNs) : std::nullopt};
          if (wait)
            *wait += work->transferShiftNs - (work->beginNs - row.startNs);
        } else if (wait) {
          const RowSpan waited = times_.ofRow(place, {row.startNs, row.startNs + *wait});
          wait = *waited.endNs - *waited.beginNs;
        }
        if (row.waitNs && transfer && row.endNs)
          *transfer +=
              (*moved.endNs - *moved.beginNs - *wait) - (*row.endNs - row.startNs - *row.waitNs);
        return update.bindAll(row.id, moved.beginNs, moved.endNs, wait, transfer).run();
      });
}

// `queued_ns` and `submitted_ns` move with the call that launched the work.
Result<void> Mover::moveWork(bool isCopy) {
  const char* const table = isCopy ? "copy" : "kernel";
  SONDE_TRY_ASSIGN(
      Statement update,
      trace_.prepare(fmt::format("UPDATE {} SET start_ns = ?2, dur_ns = ?3 - ?2, launch_delay_ns = "
                                 "?4, queued_ns = ?5, submitted_ns = ?6 WHERE id = ?1",
                                 table)));
  const std::string rows = fmt::format(
      "SELECT x.id, x.stream_id, x.start_ns, x.start_ns + x.dur_ns AS end_ns, x.launch_delay_ns, "
      "x.queued_ns, x.submitted_ns, s.thread_id AS launch_thread_id, s.start_ns AS launched_ns "
      "FROM "
      "{} x NOT INDEXED LEFT JOIN slice s ON s.id = x.launch_slice_id",
      table);
  return store::forEach<WorkRow>(trace_, rows, [&](const WorkRow& row) -> Result<void> {
    RowSpan moved;
    const auto work = row.endNs ? times_.ofWork(isCopy, row.id, row.startNs, *row.endNs)
                                : std::optional<WorkTimes>();
    if (work)
      moved = {work->beginNs, work->endNs};
    else
      moved = times_.ofStream(row.streamId, {row.startNs, row.endNs});
    const std::int64_t shift = *moved.beginNs - row.startNs;
    std::int64_t launchShift = shift;
    if (row.launchedNs) {
      const RowSpan launch = times_.ofRow({row.launchThreadId, 0, 0}, {*row.launchedNs, {}});
      launchShift = *launch.beginNs - *row.launchedNs;
    }
    const auto later = [](const std::optional<std::int64_t>& ns, std::int64_t by) {
      return ns ? std::optional(*ns + by) : ns;
    };
    return update
        .bindAll(row.id,
                 moved.beginNs,
                 moved.endNs,
                 later(row.launchDelayNs, shift - launchShift),
                 later(row.queuedNs, launchShift),
                 later(row.submittedNs, launchShift))
        .run();
  });
}

Result<void> Mover::moveIterations() {
  SONDE_TRY_ASSIGN(
      Statement update,
      trace_.prepare("UPDATE iteration SET start_ns = ?2, dur_ns = ?3 - ?2 WHERE id = ?1"));
  constexpr std::string_view kRows =
      "SELECT x.id, x.process_id, x.number, x.start_ns, x.start_ns + x.dur_ns AS end_ns, "
      "x.slice_id, s.thread_id FROM iteration x NOT INDEXED LEFT JOIN slice s ON s.id = x.slice_id";
  return store::forEach<IterationRow>(trace_, kRows, [&](const IterationRow& row) -> Result<void> {
    const auto known = row.endNs
                           ? times_.ofIteration(row.processId, row.number, row.startNs, *row.endNs)
                           : std::optional<RowSpan>();
    const RowSpan moved =
        known ? *known : times_.ofRow({row.threadId, row.processId, 0}, {row.startNs, row.endNs});
    if (known && row.sliceId != 0)
      ofSlices_.emplace(row.sliceId, moved);
    return update.bindAll(row.id, moved.beginNs, moved.endNs).run();
  });
}

// A slice stays inside of the one around it.
RowSpan Mover::spanOf(const SliceRow& row, const RowSpan* parent) const {
  if (const auto known = ofSlices_.find(row.id); known != ofSlices_.end() && row.endNs)
    return known->second;
  if (row.endNs)
    if (const auto known = times_.ofSlice(row.id, row.startNs, *row.endNs))
      return *known;
  RowSpan span = times_.ofRow({row.threadId, 0, 0}, {row.startNs, row.endNs});
  if (parent == nullptr || !parent->endNs || !span.endNs)
    return span;
  span.endNs = std::clamp(*span.endNs, *parent->beginNs, *parent->endNs);
  span.beginNs = std::clamp(*span.beginNs, *parent->beginNs, *span.endNs);
  return span;
}

// Reads parents before their children. The signs keep SQLite from reading along an index that the
// updates change.
Result<void> Mover::moveSlices() {
  SONDE_TRY_ASSIGN(
      Statement update,
      trace_.prepare("UPDATE slice SET start_ns = ?2, dur_ns = ?3 - ?2 WHERE id = ?1"));
  struct Level {
    Open last;
    Open before;  // an instant at its end comes after the begin of the next one
  };
  std::vector<Level> around;  // by depth
  constexpr std::string_view kRows =
      "SELECT id, thread_id, start_ns, start_ns + dur_ns AS end_ns, parent_id, depth FROM slice "
      "ORDER BY +thread_id, +lane, +start_ns, +depth";
  return store::forEach<SliceRow>(trace_, kRows, [&](const SliceRow& row) -> Result<void> {
    const auto depth = static_cast<std::size_t>(std::max<std::int64_t>(row.depth, 0));
    if (around.size() <= depth)
      around.resize(depth + 1);
    const RowSpan* parent = nullptr;
    if (depth > 0 && row.parentId != 0)
      for (const Open* each : {&around[depth - 1].last, &around[depth - 1].before})
        if (each->id == row.parentId)
          parent = &each->span;
    const RowSpan moved = spanOf(row, parent);
    around[depth] = {{row.id, moved}, around[depth].last};
    if (moved.beginNs == row.startNs && moved.endNs == row.endNs)
      return {};
    return update.bindAll(row.id, moved.beginNs, moved.endNs).run();
  });
}

Result<void> rewrite(Database trace, const RowTimes& times, const RetimeOptions& options) {
  {
    SONDE_TRY_ASSIGN(store::Transaction transaction, store::Transaction::begin(trace));
    SONDE_TRY(Mover(trace, times).move(options.progress.part(0.2, 0.6)));
    if (options.then)
      SONDE_TRY(options.then(trace));
    SONDE_TRY(trace.exec(
        "DELETE FROM finding; DELETE FROM line; DELETE FROM lod; DELETE FROM ingested; "
        "DELETE FROM ingest_state; DELETE FROM open_scope; "
        "DELETE FROM meta WHERE key IN ('session', 'drained', 'finished', 'origin_ns')"));
    SONDE_TRY_ASSIGN(Statement mark,
                     trace.prepare("INSERT OR REPLACE INTO meta VALUES ('replayed', ?1)"));
    SONDE_TRY(mark.bindAll(std::string_view(options.how)).run());
    SONDE_TRY(transaction.commit());
  }
  return store::finalise(std::move(trace), options.progress.part(0.6, 1));
}

Result<void> copyAndMove(const Database& source,
                         const fs::path& part,
                         const RowTimes& times,
                         const RetimeOptions& options) {
  {
    options.progress("copying", 0);
    SONDE_TRY_ASSIGN(Statement copy, source.prepare("VACUUM INTO ?1"));
    copy.bind(1, std::string_view(part.string()));
    SONDE_TRY(copy.run());
  }
  SONDE_TRY_ASSIGN(Database trace, Database::open(part, store::Access::ReadWrite));
  return rewrite(std::move(trace), times, options);
}

}  // namespace

Result<void> retime(const Database& trace,
                    const graph::TraceGraph& graph,
                    const NewTimes& times,
                    const RetimeOptions& options) {
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  SONDE_TRY_ASSIGN(store::TracePart part,
                   store::TracePart::claim(options.output, options.overwrite, options.inputs));
  SONDE_TRY(copyAndMove(trace, part.path(), RowTimes(graph, times, clock), options));
  return std::move(part).publish();
}

}  // namespace sonde::engine::retime
