#include "analysis/finalise/finaliser.h"

#include "analysis/finalise/backward_links.h"
#include "analysis/finalise/event_stacks.h"
#include "analysis/finalise/lod_tables.h"
#include "analysis/finalise/operator_flops.h"
#include "analysis/finalise/scope_inheritance.h"
#include "analysis/store/schema.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_name.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace sonde::store {
namespace {

namespace fs = std::filesystem;

// The first instant of the trace on its common clock, over its processes and everything drawn.
constexpr std::string_view kOriginSql =
    "WITH places(owner, owner_id, host_id) AS ("
    "  SELECT 'thread', t.id, p.host_id FROM thread t JOIN process p ON p.id = t.process_id UNION "
    "ALL "
    "  SELECT 'stream', r.id, p.host_id FROM stream r JOIN process p ON p.id = r.process_id UNION "
    "ALL "
    "  SELECT 'channel', c.id, p.host_id FROM channel c JOIN process p ON p.id = c.process_id), "
    "times(host_id, ns) AS ("
    "  SELECT a.host_id, l.start_ns FROM line l JOIN places a ON a.owner = l.owner AND a.owner_id "
    "= l.owner_id "
    "  UNION ALL SELECT host_id, start_ns FROM process WHERE start_ns IS NOT NULL) "
    "INSERT OR REPLACE INTO meta SELECT 'origin_ns', coalesce(min(ns + coalesce(("
    "  SELECT m.offset_ns + CAST(round((ns - m.from_ns) * 1e-9 * m.drift_ppb) AS INTEGER) FROM "
    "clock_map m "
    "  WHERE m.host_id = times.host_id AND m.from_ns <= ns ORDER BY m.from_ns DESC LIMIT 1), 0)), "
    "0) FROM times";

Result<void> dropIndexes(Database& trace) {
  std::vector<std::string> names;
  {
    SONDE_TRY_ASSIGN(
        Statement rows,
        trace.prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"));
    for (;;) {
      SONDE_TRY_ASSIGN(const bool more, rows.step());
      if (!more)
        break;
      names.emplace_back(rows.text(0));
    }
  }
  for (const std::string& name : names)
    SONDE_TRY(trace.exec(fmt::format("DROP INDEX \"{}\"", name)));
  return {};
}

Result<void> complete(Database& trace, const Progress& progress) {
  SONDE_TRY_ASSIGN(Transaction transaction, Transaction::begin(trace));
  progress("building indexes", 0);
  SONDE_TRY(dropIndexes(trace));
  SONDE_TRY(trace.exec(indexesSql()));
  progress("finding scopes across threads", 0.35);
  SONDE_TRY(inheritScopes(trace));
  SONDE_TRY(placeEventStacks(trace));
  SONDE_TRY(linkBackward(trace));
  SONDE_TRY(countOperatorFlops(trace));
  progress("building overviews", 0.5);
  SONDE_TRY(buildLodTables(trace));
  progress("gathering statistics", 0.85);
  SONDE_TRY(setOrigin(trace));
  SONDE_TRY(trace.exec("PRAGMA analysis_limit = 1000; ANALYZE;"));
  const std::string finished =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  SONDE_TRY(
      trace.exec(fmt::format("INSERT OR REPLACE INTO meta VALUES ('finished', '{}')", finished)));
  return transaction.commit();
}

// Folds the write-ahead log into the file and leaves log mode. False if another connection keeps
// it.
Result<bool> leaveLog(Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t blocked,
                   trace.queryInteger("PRAGMA wal_checkpoint(TRUNCATE)"));
  if (blocked != 0)
    return Error{
        ErrorCode::Io,
        fmt::format("'{}' is being read by another program: close it there and run 'sonde recover'",
                    trace.path().string())};
  const auto mode = trace.queryText("PRAGMA journal_mode = DELETE");
  return mode && *mode == "delete";
}

// A reader keeps the log, which is now empty. Renaming the trace would leave the log behind. So the
// trace is copied to a new file that takes its name; the reader keeps the old one.
Result<void> replaceByCopy(Database trace) {
  const fs::path path = trace.path();  // NOLINT(performance-unnecessary-copy-initialization): the
                                       // connection is closed before it is used
  const fs::path copy = path.string() + ".new";
  std::error_code problem;
  fs::remove(copy, problem);
  SONDE_TRY_ASSIGN(Statement vacuum, trace.prepare("VACUUM INTO ?"));
  SONDE_TRY(vacuum.bindAll(copy.string()).run());
  SONDE_TRY_ASSIGN(Database written, Database::open(copy, Access::ReadWrite));
  SONDE_TRY(written.exec("PRAGMA synchronous = FULL"));
  SONDE_TRY(leaveLog(written));
  return renameTrace(copy, path, true);
}

}  // namespace

Result<void> finalise(Database trace, const Progress& progress) {
  SONDE_TRY(trace.exec("PRAGMA cache_size = -64000; PRAGMA synchronous = NORMAL;"));
  SONDE_TRY_ASSIGN(bool alone, leaveLog(trace));
  SONDE_TRY_ASSIGN(const bool finished, isFinished(trace));
  if (!finished)
    SONDE_TRY(complete(trace, progress));
  progress("closing the file", 0.95);
  if (alone)
    return {};
  SONDE_TRY_ASSIGN(alone, leaveLog(trace));
  return alone ? Result<void>() : replaceByCopy(std::move(trace));
}

Result<void> setOrigin(Database& trace) {
  return trace.exec(kOriginSql);
}

}  // namespace sonde::store
