#include "analysis/ingest/device_calls.h"

#include "analysis/model/words.h"
#include "analysis/store/open_slice.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace sonde::ingest {
namespace {

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

using store::Database;
using store::Statement;

// What the recorder stored stands at depth 0 of lane 0 and has no parent.
constexpr std::string_view kIsCall =
    "s.kind = 'api' AND s.category IN ('cuda_runtime', 'cuda_driver', 'overhead')";

class CallPlacer {
 public:
  explicit CallPlacer(Statement place, Statement move)
      : place_(std::move(place)), move_(std::move(move)) {}

  // Requires: rows come by thread, start, and of two that start together the longer first.
  Result<void> take(const Statement& row) {
    if (row.integer(9) != thread_)
      holders_.clear();
    thread_ = row.integer(9);
    const auto kind = model::sliceKindOf(row.text(1));
    if (kind == model::SliceKind::Range)
      return {};
    Slice slice;
    slice.id = row.integer(0);
    slice.startNs = row.integer(2);
    slice.endNs = row.isNull(3) ? kForever : row.integer(3);
    slice.depth = row.integer(4);
    slice.lane = row.integer(5);
    slice.parent = row.integer(6);
    slice.scope = kind && model::isScope(*kind) ? slice.id : row.integer(7);
    return row.integer(8) != 0 ? place(slice) : pass(slice);
  }

 private:
  struct Slice {
    std::int64_t id = 0;
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;
    std::int64_t depth = 0;
    std::int64_t lane = 0;
    std::int64_t parent = 0;
    std::int64_t scope = 0;   // itself, or the one it is in
    std::int64_t deeper = 0;  // by how much calls have moved it down
    bool isCall = false;
  };

  // The innermost slice that holds this one.
  const Slice* holderOf(const Slice& slice) {
    while (!holders_.empty() && holders_.back().endNs <= slice.startNs)
      holders_.pop_back();
    for (auto holder = holders_.rbegin(); holder != holders_.rend(); ++holder) {
      if (holder->endNs >= slice.endNs)
        return &*holder;
    }
    return nullptr;
  }

  Result<void> place(Slice slice) {
    const Slice* const holder = holderOf(slice);
    const std::int64_t scope = holders_.empty() ? 0 : holders_.back().scope;
    slice.isCall = true;
    slice.scope = scope;
    if (holder != nullptr) {
      slice.parent = holder->id;
      slice.depth = holder->depth + 1;
      slice.lane = holder->lane;
      slice.deeper = holder->deeper + 1;
    } else {
      slice.deeper = 1;
    }
    holders_.push_back(slice);
    if (holder == nullptr && scope == 0)
      return {};
    place_.bindAll(slice.id,
                   optional(slice.parent),
                   slice.depth,
                   slice.lane,
                   optional(scope),
                   std::string_view(scope == 0 ? "none" : "own"));
    return place_.run();
  }

  // One that has its place; a call that holds it comes between it and its parent.
  Result<void> pass(Slice slice) {
    const Slice* const holder = holderOf(slice);
    const bool moves = holder != nullptr && holder->deeper > 0 && holder->lane == slice.lane;
    if (moves) {
      slice.deeper = holder->deeper;
      slice.depth += slice.deeper;
      slice.parent = holder->isCall ? holder->id : slice.parent;
      SONDE_TRY(move_.bindAll(slice.id, optional(slice.parent), slice.depth).run());
    }
    holders_.push_back(slice);
    return {};
  }

  static std::optional<std::int64_t> optional(std::int64_t id) {
    return id == 0 ? std::nullopt : std::optional(id);
  }

  Statement place_;
  Statement move_;
  std::int64_t thread_ = 0;
  std::vector<Slice> holders_;  // those that may hold what comes, by start
};

// Of several calls with one correlation, a runtime's and a driver's, the outer one.
constexpr std::string_view kLaunches =
    "CREATE TEMP TABLE launch AS SELECT t.process_id, s.correlation_id, s.id, s.scope_id, "
    "min(s.depth), s.start_ns FROM slice s JOIN thread t ON t.id = s.thread_id WHERE "
    "s.correlation_id IS NOT NULL AND s.kind = 'api' GROUP BY 1, 2;"
    "CREATE UNIQUE INDEX temp.launch_by_correlation ON launch(process_id, correlation_id);";

constexpr std::string_view kJoinWork =
    "UPDATE {0} SET (launch_slice_id, scope_id) = (SELECT l.id, l.scope_id FROM temp.launch l "
    "WHERE l.process_id = (SELECT process_id FROM stream WHERE id = {0}.stream_id) AND "
    "l.correlation_id = {0}.correlation_id) WHERE launch_slice_id IS NULL AND correlation_id IS "
    "NOT NULL";

constexpr std::string_view kTimeRecords =
    "UPDATE sync SET start_ns = coalesce((SELECT l.start_ns FROM temp.launch l WHERE l.process_id "
    "= sync.process_id AND l.correlation_id = sync.correlation_id), start_ns) WHERE kind = "
    "'record' AND start_ns = 0";

// What had not begun when its process ended is where it was launched.
constexpr std::string_view kPlaceUnfinished =
    "UPDATE {0} SET start_ns = coalesce((SELECT s.start_ns + coalesce(s.dur_ns, 0) FROM slice s "
    "WHERE s.id = {0}.launch_slice_id), (SELECT p.end_ns FROM stream r JOIN process p ON p.id = "
    "r.process_id WHERE r.id = {0}.stream_id), 0) WHERE start_ns = 0";

constexpr std::string_view kJoinWaits =
    "CREATE TEMP TABLE event_record AS SELECT process_id, event_id, start_ns, id FROM sync WHERE "
    "kind = 'record' AND event_id IS NOT NULL;"
    "CREATE INDEX temp.event_record_by_time ON event_record(process_id, event_id, start_ns);"
    "UPDATE sync SET waits_for_id = (SELECT r.id FROM temp.event_record r WHERE r.process_id = "
    "sync.process_id AND r.event_id = sync.event_id AND r.start_ns <= sync.start_ns ORDER BY "
    "r.start_ns DESC LIMIT 1) WHERE waits_for_id IS NULL AND kind IN ('wait', 'event') AND "
    "event_id IS NOT NULL;"
    "DROP TABLE temp.event_record;";

}  // namespace

Result<void> placeDeviceCalls(Database& trace) {
  SONDE_TRY_ASSIGN(Statement place,
                   trace.prepare("UPDATE slice SET parent_id = ?2, depth = ?3, lane = ?4, "
                                 "scope_id = ?5, scope_how = ?6 WHERE id = ?1"));
  SONDE_TRY_ASSIGN(Statement move,
                   trace.prepare("UPDATE slice SET parent_id = ?2, depth = ?3 WHERE id = ?1"));
  SONDE_TRY_ASSIGN(
      Statement slices,
      trace.prepare(fmt::format(
          "SELECT id, kind, start_ns, start_ns + {}, depth, lane, parent_id, scope_id, {} AND "
          "parent_id IS NULL, thread_id FROM slice s WHERE thread_id IN (SELECT DISTINCT "
          "thread_id FROM slice s WHERE {}) ORDER BY thread_id, start_ns, 4 DESC, depth, id",
          store::drawnSql("s"),
          kIsCall,
          kIsCall)));
  CallPlacer placer(std::move(place), std::move(move));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, slices.step());
    if (!more)
      return {};
    SONDE_TRY(placer.take(slices));
  }
}

Result<void> joinLaunches(Database& trace) {
  SONDE_TRY_ASSIGN(
      const std::int64_t any,
      trace.queryInteger("SELECT EXISTS (SELECT 1 FROM kernel WHERE launch_slice_id IS NULL) OR "
                         "EXISTS (SELECT 1 FROM copy WHERE launch_slice_id IS NULL) OR EXISTS "
                         "(SELECT 1 FROM sync)"));
  if (any == 0)
    return {};
  SONDE_TRY(trace.exec(kLaunches));
  for (const std::string_view table : {"kernel", "copy"})
    SONDE_TRY(trace.exec(fmt::format(fmt::runtime(kJoinWork), table)));
  for (const std::string_view table : {"kernel", "copy"})
    SONDE_TRY(trace.exec(fmt::format(fmt::runtime(kPlaceUnfinished), table)));
  SONDE_TRY(trace.exec(kTimeRecords));
  SONDE_TRY(trace.exec(kJoinWaits));
  return trace.exec("DROP TABLE temp.launch");
}

}  // namespace sonde::ingest
