#include "analysis/finalise/device_metrics.h"

#include "analysis/model/words.h"
#include "analysis/store/open_slice.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace sonde::ingest {
namespace {

using store::Statement;

struct Scope {
  std::int64_t id;
  std::int64_t endNs;
};

// Scopes and stretches of all threads by begin; a scope before a stretch.
constexpr std::string_view kSweep =
    "SELECT 1 AS is_scope, thread_id, start_ns, start_ns + {}, id, kind FROM slice s WHERE "
    "thread_id IN (SELECT thread_id FROM device_metric WHERE slice_id IS NULL) AND kind <> 'api' "
    "UNION ALL SELECT DISTINCT 0, thread_id, start_ns, NULL, NULL, NULL FROM device_metric WHERE "
    "slice_id IS NULL ORDER BY 2, 3, 1 DESC, 4 DESC, 5";

bool opensScope(const Statement& row) {
  const auto kind = row.integer(0) != 0 ? model::sliceKindOf(row.text(5)) : std::nullopt;
  return kind && model::isScope(*kind);
}

Scope scopeOf(const Statement& row) {
  return {row.integer(4),
          row.isNull(3) ? std::numeric_limits<std::int64_t>::max() : row.integer(3)};
}

// Fills temp.stretch.
Result<void> sweepThreads(store::Database& trace) {
  SONDE_TRY_ASSIGN(Statement sweep,
                   trace.prepare(fmt::format(fmt::runtime(kSweep), store::drawnSql("s"))));
  SONDE_TRY_ASSIGN(Statement place, trace.prepare("INSERT INTO temp.stretch VALUES (?1, ?2, ?3)"));
  std::vector<Scope> open;
  std::int64_t thread = 0;
  while (true) {
    SONDE_TRY_ASSIGN(const bool more, sweep.step());
    if (!more)
      return {};
    if (sweep.integer(1) != thread)
      open.clear();
    thread = sweep.integer(1);
    while (!open.empty() && open.back().endNs <= sweep.integer(2))
      open.pop_back();
    if (opensScope(sweep))
      open.push_back(scopeOf(sweep));
    else if (sweep.integer(0) == 0 && !open.empty())
      SONDE_TRY(place.bindAll(thread, sweep.integer(2), open.back().id).run());
  }
}

}  // namespace

Result<void> placeDeviceMetrics(store::Database& trace) {
  SONDE_TRY_ASSIGN(
      const std::int64_t any,
      trace.queryInteger("SELECT EXISTS (SELECT 1 FROM device_metric WHERE slice_id IS NULL)"));
  if (any == 0)
    return {};
  SONDE_TRY(
      trace.exec("CREATE TEMP TABLE stretch(thread_id, start_ns, slice_id, PRIMARY "
                 "KEY(thread_id, start_ns)) WITHOUT ROWID"));
  SONDE_TRY(sweepThreads(trace));
  return trace.exec(
      "UPDATE device_metric AS m SET slice_id = (SELECT s.slice_id FROM temp.stretch s WHERE "
      "s.thread_id = m.thread_id AND s.start_ns = m.start_ns) WHERE slice_id IS NULL;"
      "DROP TABLE temp.stretch;");
}

}  // namespace sonde::ingest
