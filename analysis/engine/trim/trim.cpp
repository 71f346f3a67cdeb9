#include "analysis/engine/trim/trim.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/finalise/finaliser.h"
#include "analysis/store/database.h"
#include "analysis/store/open_slice.h"
#include "analysis/store/statement.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_part.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::trim {
namespace {

namespace fs = std::filesystem;
using store::Database;
using store::Statement;

// The span that each process keeps; the span over all is that of process 0.
constexpr std::string_view kKeepingSql =
    "CREATE TEMP TABLE keeping(process_id INTEGER PRIMARY KEY, b INTEGER NOT NULL, e INTEGER NOT "
    "NULL);";
constexpr std::string_view kWindowSql =
    "CREATE TEMP TABLE span AS SELECT process_id, min(start_ns) AS b, max(start_ns + "
    "coalesce(dur_ns, 0)) AS e"
    " FROM iteration WHERE number BETWEEN {0} AND {1} GROUP BY process_id;"
    "INSERT INTO temp.keeping SELECT p.id, coalesce(s.b, (SELECT min(b) FROM temp.span)),"
    " coalesce(s.e, (SELECT max(e) FROM temp.span)) FROM process p LEFT JOIN temp.span s ON "
    "s.process_id = p.id"
    " UNION ALL SELECT 0, min(b), max(e) FROM temp.span; DROP TABLE temp.span";

// A table whose rows are deleted outside the span: how to find their process, and the columns of
// their interval.
struct Timed {
  std::string_view table;
  std::string_view process;  // an expression over x, a row of the table
  std::string_view start;
  std::string_view end;
};
constexpr std::string_view kOfThread = "(SELECT process_id FROM thread WHERE id = x.thread_id)";
// A host that waits for a whole device waits for no stream.
constexpr std::string_view kOfStreamOrAll =
    "coalesce(x.process_id, (SELECT process_id FROM stream WHERE id = x.stream_id), 0)";
constexpr std::string_view kOfChannel = "(SELECT process_id FROM channel WHERE id = x.channel_id)";
constexpr std::string_view kOfCounter = "(SELECT process_id FROM counter WHERE id = x.counter_id)";
constexpr std::string_view kOfWakee =
    "(SELECT process_id FROM thread WHERE id = x.wakee_thread_id)";
// Work still open at the end never ends: {} stands for kForever.
constexpr std::int64_t kForever = 4'000'000'000'000'000'000;
constexpr std::string_view kDuration = "x.start_ns + coalesce(x.dur_ns, {})";
// A device's work belongs to the iteration that launched it, whenever it ran. Work without a
// launch, or without a call, counts by its own time.
constexpr std::string_view kOfLauncher =
    "coalesce((SELECT t.process_id FROM slice s JOIN thread t ON t.id = s.thread_id WHERE s.id = "
    "x.launch_slice_id), (SELECT process_id FROM stream WHERE id = x.stream_id))";
constexpr std::string_view kLaunchStart =
    "coalesce((SELECT start_ns FROM slice WHERE id = x.launch_slice_id), x.start_ns)";
constexpr std::string_view kLaunchEnd =
    "coalesce((SELECT start_ns + coalesce(dur_ns, 0) FROM slice WHERE id = x.launch_slice_id), "
    "x.start_ns + coalesce(x.dur_ns, {}))";
// A collective with a kernel follows the kernel.
constexpr std::string_view kOfCall = "iif(x.kernel_id IS NULL, x.process_id, NULL)";
constexpr Timed kTimed[] = {
    {"kernel", kOfLauncher, kLaunchStart, kLaunchEnd},
    {"copy", kOfLauncher, kLaunchStart, kLaunchEnd},
    {"device_metric", kOfThread, "x.start_ns", kDuration},
    {"sync", kOfStreamOrAll, "x.start_ns", kDuration},
    {"collective", kOfCall, "x.start_ns", kDuration},
    {"transfer", kOfChannel, "x.start_ns", kDuration},
    {"handoff", kOfWakee, "x.block_ns", "x.wake_ns"},
    {"scalar", "x.process_id", "x.ts_ns", "x.ts_ns"},
    {"tensor", "x.process_id", "x.ts_ns", "x.ts_ns"},
    {"sample", kOfCounter, "x.ts_ns", "x.ts_ns"},
    {"stack_sample", kOfThread, "x.ts_ns", "x.ts_ns"},
    {"allocation", "x.process_id", "x.alloc_ns", "coalesce(x.free_ns, {})"},
    {"note", "x.process_id", "x.ts_ns", "x.ts_ns"},
};

// Whether row x is outside its process's span; an instant is inside if it lies in the span. Rows
// without a process, and notes without a time, stay.
std::string outside(const Timed& timed) {
  return fmt::format(
      "EXISTS (SELECT 1 FROM temp.keeping k WHERE k.process_id = {0} AND ({1} >= k.e OR ({2} <= "
      "k.b AND"
      " {1} < k.b)))",
      timed.process,
      timed.start,
      fmt::format(fmt::runtime(timed.end), kForever));
}

Result<void> dropTimed(Database& trace, const TrimOptions& options) {
  for (const Timed& timed : kTimed)
    SONDE_TRY(trace.exec(fmt::format("DELETE FROM {} AS x WHERE {}", timed.table, outside(timed))));
  const std::string iterations =
      options.time ? outside({"iteration", "x.process_id", "x.start_ns", kDuration})
                   : fmt::format("number NOT BETWEEN {} AND {}", options.first, options.last);
  return trace.exec(
      "DELETE FROM collective WHERE kernel_id IS NOT NULL AND kernel_id NOT IN (SELECT id FROM "
      "kernel);"
      "DELETE FROM iteration AS x WHERE " +
      iterations);
}

// Keeps slices that overlap, those that kept rows refer to, and all slices around them.
Result<void> dropSlices(Database& trace) {
  const std::string end = fmt::format("x.start_ns + coalesce({}, {{}})", store::drawnSql("x"));
  return trace.exec(
      fmt::format("CREATE TEMP TABLE kept AS WITH RECURSIVE wanted(id) AS ("
                  "SELECT x.id FROM slice x WHERE NOT {}"
                  " UNION SELECT slice_id FROM iteration UNION SELECT slice_id FROM collective"
                  " UNION SELECT launch_slice_id FROM kernel UNION SELECT scope_id FROM kernel"
                  " UNION SELECT launch_slice_id FROM copy UNION SELECT scope_id FROM copy"
                  " UNION SELECT scope_id FROM allocation UNION SELECT slice_id FROM allocation"
                  " UNION SELECT slice_id FROM device_metric), closed(id) AS ("
                  "SELECT id FROM wanted WHERE id IS NOT NULL"
                  " UNION SELECT s.parent_id FROM closed c JOIN slice s ON s.id = c.id WHERE "
                  "s.parent_id IS NOT NULL"
                  " UNION SELECT s.scope_id FROM closed c JOIN slice s ON s.id = c.id WHERE "
                  "s.scope_id IS NOT NULL)"
                  " SELECT id FROM closed;"
                  "CREATE UNIQUE INDEX temp.kept_by_id ON kept(id);"
                  "DELETE FROM slice WHERE id NOT IN (SELECT id FROM temp.kept)",
                  outside({"slice", kOfThread, "x.start_ns", end})));
}

// A reference to a deleted row becomes NULL if the schema allows it; otherwise its row is deleted,
// too.
Result<void> closeReferences(Database& trace) {
  std::vector<std::string> repairs;
  {
    SONDE_TRY_ASSIGN(
        Statement keys,
        trace.prepare(
            "SELECT t.name, k.\"from\", k.\"table\", c.\"notnull\" OR c.pk FROM sqlite_schema t"
            " JOIN pragma_foreign_key_list(t.name) k JOIN pragma_table_info(t.name) c"
            " ON c.name = k.\"from\" WHERE t.type = 'table'"));
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, keys.step());
      if (!row)
        break;
      const std::string gone = fmt::format(
          R"("{0}" IS NOT NULL AND "{0}" NOT IN (SELECT id FROM {1}))", keys.text(1), keys.text(2));
      repairs.push_back(
          keys.integer(3) != 0
              ? fmt::format("DELETE FROM {} WHERE {}", keys.text(0), gone)
              : fmt::format(
                    "UPDATE {} SET \"{}\" = NULL WHERE {}", keys.text(0), keys.text(1), gone));
    }
  }
  for (const char* owner :
       {"slice", "kernel", "copy", "sync", "collective", "transfer", "iteration"}) {
    repairs.push_back(fmt::format(
        "DELETE FROM arg WHERE owner = '{0}' AND owner_id NOT IN (SELECT id FROM {0})", owner));
    for (const char* end : {"from", "to"})
      repairs.push_back(fmt::format(
          "DELETE FROM link WHERE {1}_owner = '{0}' AND {1}_id NOT IN (SELECT id FROM {0})",
          owner,
          end));
  }
  for (const std::string& repair : repairs)
    SONDE_TRY(trace.exec(repair));
  return {};
}

Result<void> checkTime(const KeptTime& time) {
  if (time.beginNs < time.endNs)
    return {};
  return Error{ErrorCode::InvalidArgument, "the end of the time is not after its begin"};
}

Result<void> checkRange(const Database& trace, const TrimOptions& options) {
  if (options.time)
    return checkTime(*options.time);
  SONDE_TRY_ASSIGN(
      Statement range,
      trace.prepare("SELECT min(number), max(number), coalesce(sum(number BETWEEN ?1 AND ?2), 0)"
                    " FROM iteration"));
  range.bindAll(options.first, options.last);
  SONDE_TRY(range.step());
  if (range.integer(2) > 0)
    return {};
  if (range.isNull(0))
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format(
            "'{}' has no iterations: record them with sonde.iteration() or the torch source",
            options.input.string())};
  return Error{ErrorCode::InvalidArgument,
               fmt::format("'{}' has iterations {}-{}, but none in {}-{}: give a range within them",
                           options.input.string(),
                           range.integer(0),
                           range.integer(1),
                           options.first,
                           options.last)};
}

// The span that each process keeps, by its host's clock.
Result<void> keepTime(Database& trace, const KeptTime& time) {
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  SONDE_TRY_ASSIGN(
      const std::int64_t origin,
      trace.queryInteger("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'origin_ns'"));
  SONDE_TRY_ASSIGN(Statement insert, trace.prepare("INSERT INTO temp.keeping VALUES (?1, ?2, ?3)"));
  std::vector<std::pair<std::int64_t, std::int64_t>> processes = {{0, 0}};  // id and host
  {
    SONDE_TRY_ASSIGN(Statement all, trace.prepare("SELECT id, host_id FROM process"));
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, all.step());
      if (!row)
        break;
      processes.emplace_back(all.integer(0), all.integer(1));
    }
  }
  for (const auto& [process, host] : processes) {
    const align::HostClock of = clock.clockOf(host);
    insert.bindAll(process, of.toHost(origin + time.beginNs), of.toHost(origin + time.endNs));
    SONDE_TRY(insert.run());
  }
  return {};
}

Result<void> cut(Database trace, const TrimOptions& options) {
  {
    SONDE_TRY_ASSIGN(store::Transaction transaction, store::Transaction::begin(trace));
    SONDE_TRY(trace.exec(kKeepingSql));
    if (options.time)
      SONDE_TRY(keepTime(trace, *options.time));
    else
      SONDE_TRY(trace.exec(fmt::format(fmt::runtime(kWindowSql), options.first, options.last)));
    options.progress("cutting", 0.2);
    SONDE_TRY(dropTimed(trace, options));
    SONDE_TRY(dropSlices(trace));
    SONDE_TRY(closeReferences(trace));
    SONDE_TRY(trace.exec(fmt::format(
        "DELETE FROM finding; DELETE FROM line; DELETE FROM lod;"
        "DELETE FROM meta WHERE key IN ('session', 'drained', 'finished', 'origin_ns')"
        " OR key LIKE 'kept\\_ns:%' ESCAPE '\\';"
        "INSERT INTO meta SELECT 'kept_ns:' || process_id, json_array(b, e) FROM "
        "temp.keeping WHERE process_id <> 0;"
        "INSERT OR REPLACE INTO meta VALUES ('trimmed', '{}')",
        options.time ? fmt::format("{} ns to {} ns", options.time->beginNs, options.time->endNs)
                     : fmt::format("iterations {}-{}", options.first, options.last))));
    SONDE_TRY(transaction.commit());
  }
  options.progress("packing", 0.5);
  SONDE_TRY(trace.exec("DROP TABLE temp.kept; DROP TABLE temp.keeping; VACUUM"));
  return store::finalise(std::move(trace), options.progress.part(0.6, 1));
}

Result<void> copyAndCut(const fs::path& part, const TrimOptions& options) {
  {
    SONDE_TRY_ASSIGN(const Database source, store::openTrace(options.input));
    SONDE_TRY(checkRange(source, options));
    options.progress("copying", 0);
    SONDE_TRY_ASSIGN(Statement copy, source.prepare("VACUUM INTO ?1"));
    copy.bind(1, std::string_view(part.string()));
    SONDE_TRY(copy.run());
  }
  SONDE_TRY_ASSIGN(Database trace, Database::open(part, store::Access::ReadWrite));
  return cut(std::move(trace), options);
}

}  // namespace

Result<void> trim(const TrimOptions& options) {
  SONDE_TRY_ASSIGN(store::TracePart part,
                   store::TracePart::claim(options.output, options.overwrite, {options.input}));
  SONDE_TRY(copyAndCut(part.path(), options));
  return std::move(part).publish();
}

}  // namespace sonde::engine::trim
