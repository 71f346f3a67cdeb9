#include "analysis/engine/merge/merge.h"

#include "analysis/engine/merge/copy_plan.h"
#include "analysis/engine/merge/join_ranks.h"
#include "analysis/engine/merge/trace_facts.h"
#include "analysis/finalise/finaliser.h"
#include "analysis/store/statement.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_name.h"
#include "analysis/store/trace_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

namespace sonde::engine::merge {
namespace {

namespace fs = std::filesystem;
using store::Database;
using store::Statement;

// `path` as a file: URI for ATTACH; escapes all characters that could act as options.
std::string readOnlyUri(const fs::path& path) {
  std::string uri = "file:";
  for (const char character : fs::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(character);
    const bool plain = std::isalnum(byte) != 0 || character == '/' || character == '-' ||
                       character == '_' || character == '.';
    uri += plain ? std::string(1, character) : fmt::format("%{:02x}", byte);
  }
  return uri + "?mode=ro";
}

class Merger {
 public:
  explicit Merger(Database target) : target_(std::move(target)) {}

  Result<void> add(const TraceFacts& source, const Progress& progress);
  // Joins what spans ranks, counts rows and finalises.
  Result<MergeSummary> finish(std::size_t inputs, const Progress& progress);

 private:
  Result<void> attach(const fs::path& path);
  Result<void> checkColumns(const fs::path& path) const;
  Result<void> joinStrings();
  Result<void> joinHosts();
  Result<void> joinDevices();
  Result<void> copyAttached(const TraceFacts& source,
                            std::int64_t shiftNs,
                            const Progress& progress);
  Result<void> joinMeta(const Offsets& offsets, std::int64_t shiftNs);
  Result<void> giveToProcesses(const TablePlan& table, std::int64_t copied, const Offsets& offsets);
  Result<void> copyOpenScopes(const Offsets& offsets, std::int64_t shiftNs);
  // Looks in the source; one of an earlier version lacks newer tables.
  Result<bool> hasTable(std::string_view name) const;
  Result<Offsets> offsetsOf(const CopyPlan& plan) const;
  Result<MergeSummary> count() const;
  Result<align::Alignment> alignClocks();

  Database target_;
  std::map<std::string, std::int64_t> epochs_;
};

Result<void> Merger::attach(const fs::path& path) {
  auto attached = [&](const std::string& uri) -> Result<void> {
    SONDE_TRY_ASSIGN(Statement statement, target_.prepare("ATTACH ?1 AS source"));
    statement.bind(1, std::string_view(uri));
    SONDE_TRY(statement.run());
    // A log that cannot be shared (in a read-only folder) only fails at the first read.
    return target_.exec("SELECT count(*) FROM source.meta");
  };
  const std::string uri = readOnlyUri(path);
  if (auto first = attached(uri); first)
    return {};
  (void)target_.exec("DETACH source");
  return attached(uri + "&immutable=1");
}

// SQLite treats the quoted name of a missing column as text.
Result<void> Merger::checkColumns(const fs::path& path) const {
  SONDE_TRY_ASSIGN(
      Statement lacking,
      target_.prepare("SELECT t.name, c.name FROM main.sqlite_schema t JOIN source.sqlite_schema s "
                      "ON s.name = t.name AND s.type = 'table' JOIN pragma_table_info(t.name, "
                      "'main') c WHERE t.type = 'table' AND c.name NOT IN (SELECT name FROM "
                      "pragma_table_info(t.name, 'source'))"));
  SONDE_TRY_ASSIGN(const bool any, lacking.step());
  if (!any)
    return {};
  return Error{
      ErrorCode::Corrupt,
      fmt::format("'{}' is damaged (no such column: {} of {}): copy it again or record again",
                  path.string(),
                  lacking.text(1),
                  lacking.text(0))};
}

Result<void> Merger::joinStrings() {
  return target_.exec(
      "CREATE TEMP TABLE map_string(old_id INTEGER PRIMARY KEY, new_id INTEGER NOT NULL);"
      "INSERT INTO main.string(text) SELECT DISTINCT s.text FROM source.string s"
      " WHERE NOT EXISTS (SELECT 1 FROM main.string m WHERE m.text = s.text);"
      "INSERT INTO temp.map_string SELECT s.id, (SELECT id FROM main.string m WHERE m.text = "
      "s.text)"
      " FROM source.string s");
}

// A host without a boot id stays a host of its own.
Result<void> Merger::joinHosts() {
  return target_.exec(
      "CREATE TEMP TABLE map_host(old_id INTEGER PRIMARY KEY, new_id INTEGER NOT NULL);"
      "INSERT INTO temp.map_host SELECT s.id, coalesce((SELECT m.id FROM main.host m WHERE "
      "m.boot_id = s.boot_id),"
      " s.id + (SELECT coalesce(max(id), 0) FROM main.host)) FROM source.host s;"
      "INSERT INTO main.host SELECT h.new_id, s.name, s.boot_id, s.os, s.cpu_model, s.cpu_count, "
      "s.memory_bytes"
      " FROM source.host s JOIN temp.map_host h ON h.old_id = s.id"
      " WHERE NOT EXISTS (SELECT 1 FROM main.host m WHERE m.id = h.new_id)");
}

// Two ranks' devices are the same if their uuids are; without one, if kind, number and host are.
Result<void> Merger::joinDevices() {
  SONDE_TRY(target_.exec(
      "CREATE TEMP TABLE map_device(old_id INTEGER PRIMARY KEY, new_id INTEGER NOT NULL);"
      "INSERT INTO temp.map_device SELECT s.id, coalesce((SELECT m.id FROM main.device m"
      " WHERE m.host_id = h.new_id AND CASE WHEN s.uuid IS NOT NULL AND m.uuid IS NOT NULL THEN "
      "s.uuid = m.uuid"
      " ELSE s.kind = m.kind AND s.ordinal = m.ordinal END),"
      " s.id + (SELECT coalesce(max(id), 0) FROM main.device))"
      " FROM source.device s JOIN temp.map_host h ON h.old_id = s.host_id"));
  SONDE_TRY_ASSIGN(
      Statement columns,
      target_.prepare(
          "SELECT group_concat('s.' || name, ', ') FROM pragma_table_info('device', 'main')"
          " WHERE name NOT IN ('id', 'host_id')"));
  SONDE_TRY(columns.step());
  const std::string rest(columns.text(0));
  columns.reset();
  // `id, host_id` come first in the table, so the others follow in its order.
  return target_.exec(fmt::format(
      "INSERT INTO main.device SELECT d.new_id, h.new_id, {} FROM source.device s"
      " JOIN temp.map_device d ON d.old_id = s.id JOIN temp.map_host h ON h.old_id = s.host_id"
      " WHERE NOT EXISTS (SELECT 1 FROM main.device m WHERE m.id = d.new_id)",
      rest));
}

// The first known value of each key stays. Exception: recordings need some values in common for
// their costs to be equal; of these all distinct values are kept. Costs of recording are added.
// Values about a single recording, and those made by the finaliser, are left out. Keys about a
// process move with it.
Result<void> Merger::joinMeta(const Offsets& offsets, std::int64_t shiftNs) {
  SONDE_TRY(target_.exec(
      fmt::format("INSERT INTO main.meta SELECT 'kept_ns:' || (id + {0}), json_array((value ->> 0) "
                  "+ {1}, (value ->> 1) + {1}) FROM source.process JOIN source.meta ON key = "
                  "'kept_ns:' || id",
                  offsets.at("process"),
                  shiftNs)));
  SONDE_TRY(target_.exec(fmt::format(
      "INSERT INTO main.meta SELECT 'watermark_ns:' || (p.id + {0}), CAST(coalesce(own.value,"
      " ofAll.value) + {1} AS TEXT) FROM source.process p LEFT JOIN source.meta own ON own.key ="
      " 'watermark_ns:' || p.id LEFT JOIN source.meta ofAll ON ofAll.key = 'watermark_ns' WHERE"
      " coalesce(own.value, ofAll.value) IS NOT NULL",
      offsets.at("process"),
      shiftNs)));
  return target_.exec(
      "INSERT INTO main.meta SELECT key, value FROM source.meta"
      " WHERE key NOT IN ('finished', 'origin_ns', 'epoch_ns', 'session', 'watermark_ns')"
      " AND key NOT LIKE 'kept\\_ns:%' ESCAPE '\\' AND key NOT LIKE 'watermark\\_ns:%' ESCAPE '\\'"
      " ON CONFLICT(key)"
      " DO UPDATE SET value = CASE WHEN meta.key LIKE 'recorder\\_%' ESCAPE '\\'"
      " THEN CAST(CAST(meta.value AS INTEGER) + CAST(excluded.value AS INTEGER) AS TEXT)"
      " WHEN meta.value = '' THEN excluded.value"
      " WHEN meta.key IN ('sources', 'build') AND excluded.value <> '' AND"
      " instr(' and ' || meta.value || ' and ', ' and ' || excluded.value || ' and ') = 0"
      " THEN meta.value || ' and ' || excluded.value ELSE meta.value END");
}

// Costs of recording for all processes of one trace (rows after the first `copied`) do not hold for
// the other traces' processes. Assigns them to the trace's first processes, and so to all that
// these started.
Result<void> Merger::giveToProcesses(const TablePlan& table,
                                     std::int64_t copied,
                                     const Offsets& offsets) {
  std::string rest;
  for (const ColumnPlan& column : table.columns)
    rest += column.name == "process_id" ? "" : ", o." + column.name;
  std::string names = rest;
  for (std::size_t at = names.find("o."); at != std::string::npos; at = names.find("o."))
    names.erase(at, 2);
  const std::string first =
      fmt::format("main.process p WHERE p.parent_id IS NULL AND p.id > {}", offsets.at("process"));
  return target_.exec(
      fmt::format("CREATE TEMP TABLE own AS SELECT p.id AS process_id{1} FROM main.{0} o, {3} AND "
                  "o.rowid > {4} AND o.process_id IS NULL ORDER BY o.rowid;"
                  "DELETE FROM main.{0} WHERE rowid > {4} AND process_id IS NULL AND EXISTS "
                  "(SELECT 1 FROM {3});"
                  "INSERT INTO main.{0}(process_id{2}) SELECT process_id{2} FROM temp.own;"
                  "DROP TABLE temp.own",
                  table.name,
                  rest,
                  names,
                  first,
                  copied));
}

// Open scopes of an unfinished recording already have ids, which their children refer to.
Result<void> Merger::copyOpenScopes(const Offsets& offsets, std::int64_t shiftNs) {
  const std::int64_t slices = offsets.at("slice");
  return target_.exec(
      fmt::format("INSERT OR IGNORE INTO main.slice(id, thread_id, kind, category, name_id, "
                  "start_ns, dur_ns, parent_id, depth, lane,"
                  " scope_id, scope_how) SELECT slice_id + {0}, thread_id + {1}, kind, category,"
                  " (SELECT new_id FROM temp.map_string WHERE old_id = name_id), start_ns + {2}, "
                  "NULL, parent_id + {0}, depth, lane,"
                  " scope_id + {0}, scope_how FROM source.open_scope",
                  slices,
                  offsets.at("thread"),
                  shiftNs));
}

Result<bool> Merger::hasTable(std::string_view name) const {
  SONDE_TRY_ASSIGN(const std::int64_t there,
                   target_.queryInteger(fmt::format(
                       "SELECT count(*) FROM source.sqlite_schema WHERE name = '{}'", name)));
  return there > 0;
}

Result<Offsets> Merger::offsetsOf(const CopyPlan& plan) const {
  Offsets offsets;
  for (const TablePlan& table : plan)
    if (table.hasId) {
      SONDE_TRY_ASSIGN(offsets[table.name],
                       target_.queryInteger(
                           fmt::format("SELECT coalesce(max(id), 0) FROM main.{}", table.name)));
    }
  return offsets;
}

Result<void> Merger::add(const TraceFacts& source, const Progress& progress) {
  SONDE_TRY_ASSIGN(const std::int64_t shiftNs, shiftOf(source, epochs_));
  for (const auto& [boot, epoch] : source.epochs)
    epochs_.try_emplace(boot, epoch + shiftNs);
  SONDE_TRY(attach(source.path));
  SONDE_TRY(checkColumns(source.path));
  SONDE_TRY(copyAttached(source, shiftNs, progress));
  return target_.exec("DETACH source");
}

Result<void> Merger::copyAttached(const TraceFacts& source,
                                  std::int64_t shiftNs,
                                  const Progress& progress) {
  SONDE_TRY_ASSIGN(store::Transaction transaction, store::Transaction::begin(target_));
  SONDE_TRY_ASSIGN(const CopyPlan plan, planCopies(target_));
  SONDE_TRY_ASSIGN(const Offsets offsets, offsetsOf(plan));
  SONDE_TRY(joinStrings());
  SONDE_TRY(joinHosts());
  SONDE_TRY(joinDevices());
  SONDE_TRY(joinMeta(offsets, shiftNs));
  std::size_t copied = 0;
  std::map<const TablePlan*, std::int64_t> costs;  // with the last row that existed before
  for (const TablePlan& table : plan) {
    progress(fmt::format("{}: {}", source.path.filename().string(), table.name),
             static_cast<double>(copied++) / static_cast<double>(plan.size()));
    if (table.name == "overhead" || table.name == "overhead_covariance") {
      SONDE_TRY_ASSIGN(costs[&table],
                       target_.queryInteger(
                           fmt::format("SELECT coalesce(max(rowid), 0) FROM main.{}", table.name)));
    }
    SONDE_TRY_ASSIGN(const bool isThere, hasTable(table.name));
    if (isThere)
      SONDE_TRY(target_.exec(copyStatement(table, offsets, shiftNs)));
  }
  for (const auto& [table, last] : costs)
    SONDE_TRY(giveToProcesses(*table, last, offsets));
  SONDE_TRY(copyOpenScopes(offsets, shiftNs));
  SONDE_TRY(target_.exec(
      "DROP TABLE temp.map_string; DROP TABLE temp.map_host; DROP TABLE temp.map_device"));
  return transaction.commit();
}

Result<MergeSummary> Merger::count() const {
  MergeSummary summary;
  SONDE_TRY_ASSIGN(const CopyPlan plan, planCopies(target_));
  for (const TablePlan& table : plan) {
    SONDE_TRY_ASSIGN(const std::int64_t rows,
                     target_.queryInteger(fmt::format("SELECT count(*) FROM {}", table.name)));
    if (rows > 0)
      summary.events[table.name] = rows;
  }
  SONDE_TRY_ASSIGN(Statement losses,
                   target_.prepare("SELECT reason, sum(count) FROM loss GROUP BY reason"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, losses.step());
    if (!row)
      return summary;
    summary.dropped[std::string(losses.text(0))] = losses.integer(1);
  }
}

Result<align::Alignment> Merger::alignClocks() {
  SONDE_TRY_ASSIGN(align::Alignment alignment, align::alignHosts(target_));
  SONDE_TRY_ASSIGN(store::Transaction transaction, store::Transaction::begin(target_));
  SONDE_TRY(storeClockMap(target_, alignment));
  SONDE_TRY(transaction.commit());
  return alignment;
}

Result<MergeSummary> Merger::finish(std::size_t inputs, const Progress& progress) {
  progress("joining the ranks", 0);
  {
    SONDE_TRY_ASSIGN(store::Transaction transaction, store::Transaction::begin(target_));
    SONDE_TRY(matchChannels(target_));
    SONDE_TRY(joinCommunicators(target_));
    SONDE_TRY_ASSIGN(Statement set, target_.prepare("INSERT OR REPLACE INTO meta VALUES(?1, ?2)"));
    for (const auto& [boot, epoch] : epochs_)
      SONDE_TRY(set.bindAll("epoch_ns:" + boot, std::to_string(epoch)).run());
    SONDE_TRY(set.bindAll("merged_from", std::to_string(inputs)).run());
    SONDE_TRY(transaction.commit());
  }
  SONDE_TRY_ASSIGN(MergeSummary summary, count());
  SONDE_TRY_ASSIGN(summary.alignment, alignClocks());
  SONDE_TRY(target_.exec("DROP INDEX IF EXISTS merging_string"));
  SONDE_TRY(store::finalise(std::move(target_), progress.part(0.2, 1)));
  return summary;
}

Result<std::vector<TraceFacts>> readInputs(const MergeOptions& options) {
  std::vector<TraceFacts> facts;
  for (const fs::path& input : options.inputs) {
    SONDE_TRY_ASSIGN(const Database trace, store::openTrace(input));
    trace.stopWhen(options.isToStop);
    SONDE_TRY_ASSIGN(TraceFacts fact, readFacts(trace));
    facts.push_back(std::move(fact));
  }
  return facts;
}

Result<MergeSummary> mergeInto(const fs::path& part,
                               const std::vector<TraceFacts>& facts,
                               const MergeOptions& options) {
  constexpr double kCopying = 0.5;  // share of the whole work
  SONDE_TRY_ASSIGN(Database target, store::createTrace(part, store::WriteMode::NoLog));
  SONDE_TRY(target.exec("CREATE INDEX merging_string ON string(text)"));
  target.stopWhen(options.isToStop);
  Merger merger(std::move(target));
  const double each = kCopying / static_cast<double>(facts.size());
  double begin = 0;
  for (const TraceFacts& fact : facts) {
    SONDE_TRY(merger.add(fact, options.progress.part(begin, begin + each)));
    begin += each;
  }
  return merger.finish(facts.size(), options.progress.part(kCopying, 1));
}

}  // namespace

Result<MergeSummary> merge(const MergeOptions& options) {
  if (options.inputs.empty())
    return Error{ErrorCode::InvalidArgument, "there is nothing to merge: give the traces of a job"};
  SONDE_TRY(store::checkOutput(options.output, options.overwrite, options.inputs));
  SONDE_TRY_ASSIGN(const std::vector<TraceFacts> facts, readInputs(options));
  SONDE_TRY(checkOneJob(facts));
  SONDE_TRY_ASSIGN(store::TracePart part,
                   store::TracePart::claim(options.output, options.overwrite, options.inputs));
  SONDE_TRY_ASSIGN(MergeSummary summary, mergeInto(part.path(), facts, options));
  SONDE_TRY(std::move(part).publish());
  summary.warnings = doubtsOf(facts);
  if (summary.alignment.contradiction)
    summary.warnings.push_back(summary.alignment.obstacle());
  return summary;
}

}  // namespace sonde::engine::merge
