#include "analysis/engine/recent/kept_rows.h"

#include "analysis/store/each_row.h"
#include "analysis/store/schema.h"
#include "analysis/store/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

// The engines name tables without a schema, and SQLite looks among temporary ones first. So a
// connection of its own gets temporary tables with the names of the trace's, and the kept rows.
namespace sonde::engine::recent {
namespace {

using store::Database;
using store::Statement;

// A table of events. In the SQL, x is one of its rows and n a row of temp.since.
struct Events {
  std::string_view table;
  std::string_view join;     // from n to x, with an index of a finished trace
  std::string_view process;  // of x; NULL: any
  std::string_view end;      // when x ended, for an unfinished trace, whose rows are in that order
  std::string_view kept;     // whether x is kept, given its process
};

constexpr std::string_view kOfStream =
    "JOIN main.stream r ON r.process_id = n.process_id CROSS JOIN main.{0} x INDEXED BY "
    "{0}_by_stream ON x.stream_id = r.id AND x.start_ns >= n.ns";
constexpr std::string_view kStreamsProcess =
    "(SELECT r.process_id FROM main.stream r WHERE r.id = x.stream_id)";
constexpr std::string_view kThreadsProcess =
    "(SELECT t.process_id FROM main.thread t WHERE t.id = x.thread_id)";
constexpr std::string_view kEnd = "x.start_ns + coalesce(x.dur_ns, 0)";
// A device's work belongs to the iteration that launched it.
constexpr std::string_view kLaunched =
    "x.start_ns >= n.ns AND coalesce((SELECT l.start_ns FROM main.slice l WHERE l.id = "
    "x.launch_slice_id), x.start_ns) >= n.ns";
constexpr std::string_view kStarted = "x.start_ns >= n.ns";
// Rows of a line do not overlap, so only the last one that started before can span the moment.
constexpr std::string_view kOfLine =
    "JOIN main.thread t ON t.process_id = n.process_id CROSS JOIN main.line i ON i.owner = "
    "'thread' AND i.owner_id = t.id AND i.end_ns >= n.ns CROSS JOIN main.slice x INDEXED BY "
    "slice_by_line ON x.thread_id = t.id AND x.lane = i.lane AND x.depth = i.depth AND x.start_ns "
    ">= coalesce((SELECT max(o.start_ns) FROM main.slice o WHERE o.thread_id = t.id AND o.lane = "
    "i.lane AND o.depth = i.depth AND o.start_ns < n.ns), n.ns)";

constexpr Events kEvents[] = {
    {"iteration",
     "JOIN main.iteration x ON x.process_id = n.process_id AND x.start_ns >= n.ns",
     "x.process_id",
     kEnd,
     kStarted},
    {"slice",
     kOfLine,
     kThreadsProcess,
     kEnd,
     "(x.start_ns >= n.ns OR x.dur_ns IS NULL OR x.start_ns + x.dur_ns > n.ns)"},
    {"kernel", kOfStream, kStreamsProcess, kEnd, kLaunched},
    {"copy", kOfStream, kStreamsProcess, kEnd, kLaunched},
    {"sync",
     kOfStream,
     "coalesce(x.process_id, (SELECT r.process_id FROM main.stream r WHERE r.id = x.stream_id))",
     kEnd,
     kStarted},
    {"collective",
     "JOIN main.collective x INDEXED BY collective_by_process ON x.process_id = n.process_id AND "
     "x.start_ns >= n.ns",
     "x.process_id",
     kEnd,
     kStarted},
    {"transfer",
     "JOIN main.channel c ON c.process_id = n.process_id CROSS JOIN main.transfer x INDEXED BY "
     "transfer_by_start ON x.channel_id = c.id AND x.start_ns >= n.ns",
     "(SELECT c.process_id FROM main.channel c WHERE c.id = x.channel_id)",
     kEnd,
     kStarted},
    {"stack_sample",
     "JOIN main.thread t ON t.process_id = n.process_id CROSS JOIN main.stack_sample x INDEXED BY "
     "stack_sample_by_time ON x.thread_id = t.id AND x.ts_ns >= n.ns",
     kThreadsProcess,
     "x.ts_ns",
     "x.ts_ns >= n.ns"},
};
// Waits for whole devices, which are in no index by stream.
constexpr std::string_view kWaitsForDevices =
    "INSERT INTO temp.sync SELECT x.* FROM main.sync x INDEXED BY sync_by_stream JOIN temp.since n "
    "ON n.process_id = x.process_id WHERE x.stream_id IS NULL AND x.start_ns >= (SELECT min(ns) "
    "FROM temp.since) AND x.start_ns >= n.ns";

// Tables whose rows belong to a kept slice.
constexpr std::string_view kOfSlice[] = {"io", "handoff"};

// References between events: table and column, and the table that they name.
struct Reference {
  std::string_view table;
  std::string_view column;
  std::string_view to;
};
constexpr Reference kReferences[] = {{"slice", "parent_id", "slice"},
                                     {"slice", "scope_id", "slice"},
                                     {"iteration", "slice_id", "slice"},
                                     {"kernel", "launch_slice_id", "slice"},
                                     {"kernel", "scope_id", "slice"},
                                     {"copy", "launch_slice_id", "slice"},
                                     {"copy", "scope_id", "slice"},
                                     {"collective", "slice_id", "slice"},
                                     {"transfer", "slice_id", "slice"},
                                     {"collective", "kernel_id", "kernel"},
                                     {"transfer", "collective_id", "collective"},
                                     {"sync", "waits_for_id", "sync"}};

constexpr std::string_view kCounted[] = {
    "slice", "kernel", "copy", "sync", "collective", "transfer"};

// The most rows that the tables can have: row numbers may have gaps.
Result<std::int64_t> countEvents(const Database& trace) {
  std::int64_t events = 0;
  for (const std::string_view table : kCounted) {
    SONDE_TRY_ASSIGN(
        const std::int64_t rows,
        trace.queryInteger(fmt::format(
            "SELECT coalesce((SELECT max(id) FROM {0}) - (SELECT min(id) FROM {0}) + 1, 0)",
            table)));
    events += rows;
  }
  return events;
}

// When the newest event ended.
Result<std::int64_t> newestNs(const Database& trace) {
  std::int64_t newest = 0;
  for (const Events& events : kEvents) {
    // Rows are stored when they have ended, so the newest ones are among the last.
    constexpr int kLast = 1000;
    SONDE_TRY_ASSIGN(const std::int64_t ns,
                     trace.queryInteger(
                         fmt::format("SELECT coalesce(max(ns), 0) FROM (SELECT {} AS ns FROM {} x "
                                     "ORDER BY x.rowid DESC LIMIT {})",
                                     events.end,
                                     events.table,
                                     kLast)));
    newest = std::max(newest, ns);
  }
  return newest;
}

}  // namespace

Result<Kept> rowsToKeep(const Database& trace, const RecentSize& size) {
  SONDE_TRY_ASSIGN(const std::int64_t events, countEvents(trace));
  if (events <= size.events)
    return Kept{};
  SONDE_TRY_ASSIGN(const std::int64_t most,
                   trace.queryInteger("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM "
                                      "iteration GROUP BY process_id)"));
  const auto share = static_cast<std::int64_t>(
      static_cast<double>(most) * static_cast<double>(size.events) / static_cast<double>(events));
  const std::int64_t keep = std::max(share, size.iterations);
  if (keep < most)
    return Kept{keep};
  if (size.spanNs == 0)
    return Kept{};
  SONDE_TRY_ASSIGN(const std::int64_t newest, newestNs(trace));
  return Kept{0, newest - size.spanNs};
}

namespace {

// temp.since: by process, the instant from which on it is kept. A process without iterations is
// kept from the first instant of the others of its host on.
Result<void> createSince(Database& recent, const Kept& kept) {
  if (kept.fromNs)
    return recent.exec(
        fmt::format("CREATE TEMP TABLE since(process_id INTEGER PRIMARY KEY, ns INTEGER NOT NULL);"
                    "INSERT INTO since SELECT id, {} FROM main.process",
                    *kept.fromNs));
  return recent.exec(fmt::format(
      "CREATE TEMP TABLE first AS SELECT process_id, min(start_ns) AS ns FROM (SELECT process_id, "
      "start_ns, row_number() OVER (PARTITION BY process_id ORDER BY start_ns DESC) AS age FROM "
      "main.iteration) WHERE age <= {} GROUP BY process_id;"
      "CREATE TEMP TABLE since(process_id INTEGER PRIMARY KEY, ns INTEGER NOT NULL);"
      "INSERT INTO since SELECT p.id, coalesce(f.ns, (SELECT min(g.ns) FROM temp.first g JOIN "
      "main.process q ON q.id = g.process_id WHERE q.host_id = p.host_id), (SELECT min(ns) FROM "
      "temp.first)) FROM main.process p LEFT JOIN temp.first f ON f.process_id = p.id;"
      "DROP TABLE temp.first;",
      kept.iterations));
}

// Creates temporary tables and views with the trace's definitions.
Result<void> createTables(Database& recent) {
  std::vector<std::string> tables;
  std::vector<std::string> views;
  SONDE_TRY(store::forEachRow(
      recent,
      "SELECT type, name, sql FROM main.sqlite_schema WHERE type IN ('table', 'view')",
      [&](const Statement& row) -> Result<void> {
        const std::string name(row.text(1));
        const auto isNamed = [&](const auto& each) {
          if constexpr (requires { each.table; })
            return each.table == name;
          else
            return each == name;
        };
        const bool isView = row.text(0) == "view";
        if (isView || std::any_of(std::begin(kEvents), std::end(kEvents), isNamed) ||
            std::any_of(std::begin(kOfSlice), std::end(kOfSlice), isNamed))
          (isView ? views : tables)
              .push_back("CREATE TEMP" + std::string(row.text(2)).substr(sizeof "CREATE" - 1));
        return {};
      }));
  for (const auto& statements : {tables, views})
    for (const std::string& statement : statements)
      SONDE_TRY(recent.exec(statement));
  return {};
}

// The first row of an unfinished trace's table from which on there may be kept ones. Rows are
// stored when they have ended, each process's a moment after another's, so their ends rise by and
// large.
Result<std::int64_t> firstRow(const Database& recent, const Events& events, std::int64_t fromNs) {
  constexpr std::int64_t kDisorderNs = 5'000'000'000;
  constexpr int kSample = 64;  // the last to end of so many neighbours stands for them
  SONDE_TRY_ASSIGN(std::int64_t low,
                   recent.queryInteger(
                       fmt::format("SELECT coalesce(min(rowid), 0) FROM main.{}", events.table)));
  SONDE_TRY_ASSIGN(std::int64_t high,
                   recent.queryInteger(
                       fmt::format("SELECT coalesce(max(rowid), 0) FROM main.{}", events.table)));
  SONDE_TRY_ASSIGN(Statement latest,
                   recent.prepare(fmt::format(
                       "SELECT max(ns) FROM (SELECT {} AS ns FROM main.{} x WHERE x.rowid >= ? "
                       "ORDER BY x.rowid LIMIT {})",
                       events.end,
                       events.table,
                       kSample)));
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    latest.reset();
    latest.bindAll(middle);
    SONDE_TRY(latest.step());
    if (latest.integer(0) < fromNs - kDisorderNs)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

Result<void> copyEvents(Database& recent, const Events& events, bool isFinished) {
  const std::string into = fmt::format("INSERT INTO temp.{0} SELECT x.* FROM ", events.table);
  if (isFinished)
    return recent.exec(into + "temp.since n " +
                       fmt::format(fmt::runtime(events.join), events.table) + " WHERE " +
                       std::string(events.kept));
  SONDE_TRY_ASSIGN(const std::int64_t fromNs,
                   recent.queryInteger("SELECT min(ns) FROM temp.since"));
  SONDE_TRY_ASSIGN(const std::int64_t first, firstRow(recent, events, fromNs));
  return recent.exec(into + fmt::format("main.{} x CROSS JOIN temp.since n ON n.process_id = {} "
                                        "WHERE x.rowid >= {} AND {}",
                                        events.table,
                                        events.process,
                                        first,
                                        events.kept));
}

// Adds slices that kept rows refer to: they started earlier.
Result<void> addReferredSlices(Database& recent) {
  std::string wanted;
  for (const Reference& reference : kReferences)
    if (reference.to == "slice")
      wanted += fmt::format("{}SELECT {} AS id FROM temp.{}",
                            wanted.empty() ? "" : " UNION ",
                            reference.column,
                            reference.table);
  const std::string next =
      " UNION SELECT s.{0} FROM e JOIN main.slice s ON s.id = e.id WHERE s.{0} IS NOT NULL AND "
      "s.{0} NOT IN (SELECT id FROM temp.slice)";
  return recent.exec(fmt::format(
      "CREATE TEMP TABLE earlier AS WITH RECURSIVE e(id) AS (SELECT id FROM ({}) WHERE id IS NOT "
      "NULL AND id NOT IN (SELECT id FROM temp.slice){}{}) SELECT id FROM e;"
      "INSERT INTO temp.slice SELECT s.* FROM temp.earlier e JOIN main.slice s ON s.id = e.id;"
      "DROP TABLE temp.earlier;",
      wanted,
      fmt::format(fmt::runtime(next), "parent_id"),
      fmt::format(fmt::runtime(next), "scope_id")));
}

// References to earlier work are removed.
Result<void> closeReferences(Database& recent) {
  for (const Reference& reference : kReferences)
    if (reference.to != "slice")
      SONDE_TRY(recent.exec(
          fmt::format("UPDATE temp.{0} SET {1} = NULL WHERE {1} NOT IN (SELECT id FROM temp.{2})",
                      reference.table,
                      reference.column,
                      reference.to)));
  return {};
}

// Those of a finished trace, for the temporary tables.
Result<void> createIndexes(Database& recent) {
  std::vector<std::string> tables;
  SONDE_TRY(store::forEachRow(recent,
                              "SELECT name FROM temp.sqlite_schema WHERE type = 'table'",
                              [&](const Statement& row) -> Result<void> {
                                tables.emplace_back(row.text(0));
                                return {};
                              }));
  constexpr std::string_view kCreate = "CREATE INDEX ";
  std::string_view rest = store::indexesSql();
  for (std::size_t begin; (begin = rest.find(kCreate)) != std::string_view::npos;) {
    rest.remove_prefix(begin + kCreate.size());
    const std::string_view index = rest.substr(0, rest.find(';'));
    const std::size_t on = index.find(" ON ") + 4;
    const std::string_view table = index.substr(on, index.find('(') - on);
    if (std::find(tables.begin(), tables.end(), table) != tables.end())
      SONDE_TRY(recent.exec(fmt::format("CREATE INDEX temp.{}", index)));
  }
  return recent.exec("PRAGMA analysis_limit = 1000; ANALYZE temp;");
}

}  // namespace

Result<void> keepRows(Database& recent, const Kept& kept) {
  SONDE_TRY(
      recent.exec("PRAGMA temp_store = MEMORY; PRAGMA temp.journal_mode = OFF; PRAGMA cache_size = "
                  "-64000; PRAGMA ignore_check_constraints = ON; BEGIN"));
  SONDE_TRY(createSince(recent, kept));
  SONDE_TRY(createTables(recent));
  SONDE_TRY_ASSIGN(const bool isFinished, store::isFinished(recent));
  for (const Events& events : kEvents)
    SONDE_TRY(copyEvents(recent, events, isFinished));
  if (isFinished)
    SONDE_TRY(recent.exec(kWaitsForDevices));
  SONDE_TRY(addReferredSlices(recent));
  for (const std::string_view table : kOfSlice)
    SONDE_TRY(
        recent.exec(fmt::format("INSERT INTO temp.{0} SELECT x.* FROM temp.slice s CROSS JOIN "
                                "main.{0} x ON x.slice_id = s.id",
                                table)));
  SONDE_TRY(closeReferences(recent));
  SONDE_TRY(createIndexes(recent));
  return recent.exec("COMMIT");
}

}  // namespace sonde::engine::recent
