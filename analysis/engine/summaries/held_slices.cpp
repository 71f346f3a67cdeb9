#include "analysis/engine/summaries/held_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::engine::metrics {
namespace {

struct OpenRange {
  std::int64_t id;
  std::int64_t endNs;
  std::int64_t level;
};

Result<void> run(store::Statement& statement) {
  SONDE_TRY(statement.step());
  statement.reset();
  return {};
}

// Requires: slices by thread and time; for one extent the outer one first.
class Holding {
 public:
  static Result<Holding> create(const store::Database& trace);
  Result<void> add(std::int64_t thread, OpenRange slice, std::int64_t startNs, bool isRange);

 private:
  Holding(store::Statement addHeld, store::Statement addRange, store::Statement addChild)
      : addHeld_(std::move(addHeld)),
        addRange_(std::move(addRange)),
        addChild_(std::move(addChild)) {}

  store::Statement addHeld_;
  store::Statement addRange_;
  store::Statement addChild_;
  std::vector<OpenRange> open_;
  std::int64_t thread_ = 0;
};

Result<Holding> Holding::create(const store::Database& trace) {
  for (const char* const sql :
       {"DROP TABLE IF EXISTS temp.held",
        "DROP TABLE IF EXISTS temp.held_range",
        "CREATE TEMP TABLE held(range_id INTEGER NOT NULL, slice_id INTEGER NOT NULL, "
        "PRIMARY KEY(slice_id, range_id)) WITHOUT ROWID",
        "CREATE TEMP TABLE held_range(id INTEGER PRIMARY KEY, level INTEGER NOT NULL, "
        "children INTEGER NOT NULL DEFAULT 0)"}) {
    SONDE_TRY_ASSIGN(store::Statement statement, trace.prepare(sql));
    SONDE_TRY(run(statement));
  }
  SONDE_TRY_ASSIGN(store::Statement held, trace.prepare("INSERT INTO temp.held VALUES (?, ?)"));
  SONDE_TRY_ASSIGN(store::Statement range,
                   trace.prepare("INSERT INTO temp.held_range(id, level) VALUES (?, ?)"));
  SONDE_TRY_ASSIGN(
      store::Statement child,
      trace.prepare("UPDATE temp.held_range SET children = children + 1 WHERE id = ?"));
  return Holding(std::move(held), std::move(range), std::move(child));
}

Result<void> Holding::add(std::int64_t thread,
                          OpenRange slice,
                          std::int64_t startNs,
                          bool isRange) {
  if (std::exchange(thread_, thread) != thread)
    open_.clear();
  std::erase_if(open_, [&](const OpenRange& range) { return range.endNs < startNs; });
  const auto holds = [&](const OpenRange& range) { return range.endNs >= slice.endNs; };
  slice.level = std::count_if(open_.begin(), open_.end(), holds);
  for (const OpenRange& range : open_) {
    if (!holds(range))
      continue;
    addHeld_.bindAll(range.id, slice.id);
    SONDE_TRY(run(addHeld_));
    if (!isRange || slice.level != range.level + 1)
      continue;
    addChild_.bindAll(range.id);
    SONDE_TRY(run(addChild_));
  }
  if (!isRange)
    return {};
  open_.push_back(slice);
  addRange_.bindAll(slice.id, slice.level);
  return run(addRange_);
}

}  // namespace

Result<void> makeHeldSlices(const store::Database& trace, std::string_view slices) {
  SONDE_TRY_ASSIGN(Holding holding, Holding::create(trace));
  SONDE_TRY_ASSIGN(
      store::Statement rows,
      trace.prepare(fmt::format("SELECT s.id, s.thread_id, s.start_ns, s.start_ns + s.dur_ns, "
                                "max(w.is_range) FROM ({}) w CROSS JOIN slice s ON s.id = w.id "
                                "WHERE s.dur_ns IS NOT NULL GROUP BY s.id "
                                "ORDER BY s.thread_id, s.start_ns, -s.dur_ns, s.depth, s.id",
                                slices)));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    const OpenRange slice{rows.integer(0), rows.integer(3), 0};
    SONDE_TRY(holding.add(rows.integer(1), slice, rows.integer(2), rows.integer(4) != 0));
  }
}

}  // namespace sonde::engine::metrics
