#include "analysis/engine/metrics/run_facts.h"

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
                    " (SELECT count(*) FROM slice), (SELECT count(*) FROM transfer)"
                    " + (SELECT count(*) FROM collective) + (SELECT count(*) FROM scalar)"
                    " + (SELECT count(*) FROM iteration) + (SELECT count(*) FROM kernel)"
                    " + (SELECT count(*) FROM copy) + (SELECT count(*) FROM sample)"));
  SONDE_TRY(counts.step());
  facts.hosts = counts.integer(0);
  facts.processes = counts.integer(1);
  facts.slices = counts.integer(2);
  facts.events = counts.integer(2) + counts.integer(3);
  return {};
}

Result<void> readSpan(const Database& trace, RunFacts& facts) {
  SONDE_TRY_ASSIGN(
      Statement span,
      trace.prepare(
          "SELECT min(b), max(e) FROM (SELECT min(start_ns) AS b, max(coalesce(end_ns, start_ns))"
          " AS e FROM process UNION ALL SELECT min(start_ns), max(start_ns + coalesce(dur_ns, 0))"
          " FROM slice)"));
  SONDE_TRY(span.step());
  const auto origin = metaOf(trace, "origin_ns");
  facts.originNs = origin ? integerOf(*origin) : span.integer(0);
  facts.wallNs = span.integer(1) - span.integer(0);
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

Result<RunFacts> readFacts(const Database& trace, const std::vector<RankProcess>& ranks) {
  RunFacts facts;
  facts.job = metaOf(trace, "job").value_or("");
  facts.finished = metaOf(trace, "finished").has_value();
  if (!ranks.empty()) {
    const auto command = trace.queryText(fmt::format(
        "SELECT coalesce(command, '') FROM process WHERE id = {}", ranks.front().processId));
    facts.command = command ? *command : "";
  }
  if (const auto cpu = metaOf(trace, "recorder_cpu_ns"))
    facts.recorderCpuSeconds = static_cast<double>(integerOf(*cpu)) / 1e9;
  if (const auto bytes = metaOf(trace, "recorder_bytes"))
    facts.recorderBytes = integerOf(*bytes);
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
      if (trends.empty() || trends.back().name != rows.text(0) || trends.back().rank != rank.name)
        trends.push_back({rank.name, std::string(rows.text(0)), 0, rows.optionalReal(1), {}});
      ++trends.back().count;
      trends.back().last = rows.optionalReal(1);
    }
  }
  return trends;
}

}  // namespace sonde::engine::metrics
