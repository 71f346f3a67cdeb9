#include "analysis/engine/metrics/held_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace sonde::engine::metrics {
namespace {

struct OpenRange {
  std::int64_t id;
  std::int64_t endNs;
};

Result<void> run(const store::Database& trace, std::string_view sql) {
  SONDE_TRY_ASSIGN(store::Statement statement, trace.prepare(sql));
  SONDE_TRY(statement.step());
  return {};
}

}  // namespace

Result<void> makeHeldSlices(const store::Database& trace, std::string_view slices) {
  SONDE_TRY(run(trace, "DROP TABLE IF EXISTS temp.held"));
  SONDE_TRY(run(trace,
                "CREATE TEMP TABLE held(range_id INTEGER NOT NULL, slice_id INTEGER NOT NULL, "
                "PRIMARY KEY(slice_id, range_id)) WITHOUT ROWID"));
  SONDE_TRY_ASSIGN(store::Statement add, trace.prepare("INSERT INTO temp.held VALUES (?, ?)"));
  SONDE_TRY_ASSIGN(
      store::Statement rows,
      trace.prepare(fmt::format("SELECT s.id, s.thread_id, s.start_ns, s.start_ns + s.dur_ns, "
                                "max(w.is_range) FROM ({}) w CROSS JOIN slice s ON s.id = w.id "
                                "WHERE s.dur_ns IS NOT NULL GROUP BY s.id "
                                "ORDER BY s.thread_id, s.start_ns, -s.dur_ns, s.depth, s.id",
                                slices)));
  std::vector<OpenRange> open;
  std::int64_t thread = 0;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    if (rows.integer(1) != thread)
      open.clear();
    thread = rows.integer(1);
    const std::int64_t id = rows.integer(0);
    const std::int64_t startNs = rows.integer(2);
    const std::int64_t endNs = rows.integer(3);
    std::erase_if(open, [&](const OpenRange& range) { return range.endNs < startNs; });
    for (const OpenRange& range : open)
      if (range.endNs >= endNs) {
        add.bindAll(range.id, id);
        SONDE_TRY(add.step());
        add.reset();
      }
    if (rows.integer(4) != 0)
      open.push_back({id, endNs});
  }
}

}  // namespace sonde::engine::metrics
