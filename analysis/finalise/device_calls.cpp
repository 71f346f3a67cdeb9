#include "analysis/finalise/device_calls.h"

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

// The recorder stores these at depth 0 of lane 0 without a parent.
constexpr std::string_view kIsCall =
    "s.kind IN ('api', 'mark') AND s.category IN ('cuda_runtime', 'cuda_driver', 'overhead', "
    "'unified_memory')";

class CallPlacer {
 public:
  explicit CallPlacer(Statement place, Statement move)
      : place_(std::move(place)), move_(std::move(move)) {}

  // Requires: rows by thread and start; of two that start together the longer first.
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
    slice.isMark = kind == model::SliceKind::Mark;
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
    std::int64_t scope = 0;   // itself, or the scope around it
    std::int64_t deeper = 0;  // number of levels that calls have moved it down
    bool isCall = false;
    bool isMark = false;  // of managed memory; its thread is unknown, so it has no scope
  };

  // The innermost slice that contains this one.
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
    const std::int64_t scope = slice.isMark || holders_.empty() ? 0 : holders_.back().scope;
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

  // Passes a slice with a known place. A call that contains it becomes its new parent.
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
  std::vector<Slice> holders_;  // slices that may contain later ones, by start
};

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

}  // namespace sonde::ingest
