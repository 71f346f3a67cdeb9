#include "analysis/engine/metrics/run_facts.h"

#include "analysis/store/recorded_parts.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::Database;
using store::Statement;

std::optional<std::string> metaOf(const Database& trace, std::string_view key) {
  auto value = trace.queryText(fmt::format("SELECT value FROM meta WHERE key = '{}'", key));
  return value ? std::optional(*std::move(value)) : std::nullopt;
}

std::int64_t integerOf(const std::string& text) {
  return std::strtoll(text.c_str(), nullptr, 10);
}

Result<void> readCounts(const Database& trace, RunFacts& facts) {
  SONDE_TRY_ASSIGN(
      Statement counts,
      trace.prepare("SELECT (SELECT count(*) FROM host), (SELECT count(*) FROM process),"
                    " (SELECT count(DISTINCT rank) FROM process), (SELECT count(*) FROM slice), "
                    "(SELECT count(*) FROM transfer)"
                    " + (SELECT count(*) FROM collective) + (SELECT count(*) FROM scalar)"
                    " + (SELECT count(*) FROM iteration) + (SELECT count(*) FROM kernel)"
                    " + (SELECT count(*) FROM copy) + (SELECT count(*) FROM sample)"));
  SONDE_TRY(counts.step());
  facts.hosts = counts.integer(0);
  facts.processes = counts.integer(1);
  facts.ranks = counts.integer(2);
  facts.slices = counts.integer(3);
  facts.events = counts.integer(3) + counts.integer(4);
  return {};
}

// The same table also holds notes of the recorder or importer about a process: its environment,
// names from NVTX, the CUPTI version, the base of its file's times. The bare column `value` comes
// from the row with the greatest rowid, that is, the last call.
Result<void> readMetadata(const Database& trace, RunFacts& facts) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT DISTINCT p.rank, k.text, l.value FROM (SELECT owner_id,"
                                 " key_id, value, max(rowid) FROM arg WHERE owner = 'process'"
                                 " AND owner_id IN (SELECT id FROM process) GROUP BY owner_id, "
                                 "key_id) l JOIN string k ON k.id = l.key_id"
                                 " JOIN process p ON p.id = l.owner_id WHERE k.text NOT GLOB"
                                 " 'env.*' AND k.text NOT GLOB 'nvtx *' AND k.text NOT IN"
                                 " ('sonde.cupti', 'sonde.base_ns', 'sonde.ddp')"
                                 " ORDER BY 2, p.rank IS NULL, 1, 3"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    facts.metadata.push_back(
        {rows.optionalInteger(0), std::string(rows.text(1)), std::string(rows.text(2))});
  }
}

Result<void> readSpan(const Database& trace, RunFacts& facts) {
  SONDE_TRY_ASSIGN(
      Statement span,
      trace.prepare(
          "SELECT min(b), max(e) FROM (SELECT min(start_ns) AS b, max(coalesce(end_ns, start_ns))"
          " AS e FROM process UNION ALL SELECT min(start_ns), max(start_ns + coalesce(dur_ns, 0))"
          " FROM slice UNION ALL SELECT min(start_ns), max(start_ns + coalesce(dur_ns, 0)) FROM "
          "kernel UNION ALL SELECT min(start_ns), max(start_ns + coalesce(dur_ns, 0)) FROM copy)"));
  SONDE_TRY(span.step());
  const auto origin = metaOf(trace, "origin_ns");
  facts.originNs = origin ? integerOf(*origin) : span.integer(0);
  facts.wallNs = facts.runNs = span.integer(1) - span.integer(0);
  SONDE_TRY_ASSIGN(
      Statement kept,
      trace.prepare(fmt::format(
          "SELECT min(start_ns), max(end_ns), count(*) = (SELECT count(*) FROM process) FROM ({})",
          store::kKeptSpansSql)));
  SONDE_TRY(kept.step());
  const bool isWholeBesides = kept.integer(2) == 0;  // it was merged with others
  if (!kept.isNull(0) && !isWholeBesides)
    facts.wallNs = kept.integer(1) - kept.integer(0);
  return {};
}

Result<void> readLost(const Database& trace, RunFacts& facts) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT probe, kind, reason, sum(count) FROM loss GROUP BY 1, 2, 3"
                                 " HAVING sum(count) > 0 ORDER BY 4 DESC, 1, 2, 3"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    facts.lost.push_back({std::string(rows.text(0)),
                          std::string(rows.text(1)),
                          std::string(rows.text(2)),
                          rows.integer(3)});
  }
}

Result<void> readWarnings(const Database& trace, RunFacts& facts) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT ts_ns, text FROM note WHERE source = 'recorder' AND"
                                 " severity = 'warning' AND process_id IS NULL"
                                 " ORDER BY ts_ns, id"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    Warning warning{rows.optionalInteger(0), std::string(rows.text(1))};
    if (warning.atNs)
      *warning.atNs -= facts.originNs;
    facts.warnings.push_back(std::move(warning));
  }
}

}  // namespace

Result<RunFacts> readFacts(const Database& trace) {
  RunFacts facts;
  facts.job = metaOf(trace, "job").value_or("");
  facts.replayed = metaOf(trace, "replayed").value_or("");
  facts.finished = metaOf(trace, "finished").has_value();
  const auto command = trace.queryText(
      "SELECT command FROM v_process WHERE parent_id IS NULL AND command <> ''"
      " ORDER BY start_ns IS NULL, start_ns, rank, id LIMIT 1");
  facts.command = command ? *command : "";
  if (const auto cpu = metaOf(trace, "recorder_cpu_ns"))
    facts.recorderCpuSeconds = static_cast<double>(integerOf(*cpu)) / 1e9;
  if (const auto bytes = metaOf(trace, "recorder_bytes"))
    facts.recorderBytes = integerOf(*bytes);
  if (const auto bytes = metaOf(trace, "recorder_rss_bytes"))
    facts.recorderRssBytes = integerOf(*bytes);
  SONDE_TRY(readMetadata(trace, facts));
  SONDE_TRY(readCounts(trace, facts));
  SONDE_TRY(readSpan(trace, facts));
  SONDE_TRY(readLost(trace, facts));
  SONDE_TRY(readWarnings(trace, facts));
  return facts;
}

Result<std::vector<ScalarTrend>> scalarTrends(const Database& trace,
                                              const std::vector<RankProcess>& ranks) {
  std::vector<ScalarTrend> trends;
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare("SELECT n.text, s.value FROM scalar s JOIN string n ON n.id = s.name_id"
                    " WHERE s.process_id = ?1 ORDER BY n.text, s.ts_ns"));
  for (const RankProcess& rank : ranks) {
    rows.bind(1, rank.processId);
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, rows.step());
      if (!row)
        break;
      if (trends.empty() || trends.back().name != rows.text(0) ||
          trends.back().process != rank.name)
        trends.push_back(
            {rank.rank, rank.name, std::string(rows.text(0)), 0, rows.optionalReal(1), {}});
      ++trends.back().count;
      trends.back().last = rows.optionalReal(1);
    }
  }
  return trends;
}

}  // namespace sonde::engine::metrics
