#include "recorder/drain/drain_totals.h"

#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::recorder {

namespace {

Result<void> readWarnings(const store::Database& trace, DrainTotals& totals) {
  SONDE_TRY_ASSIGN(store::Statement notes,
                   trace.prepare("SELECT text FROM note WHERE source = 'recorder' AND "
                                 "severity = 'warning' AND process_id IS NULL ORDER BY id"));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, notes.step());
    if (!more)
      return {};
    totals.warnings.emplace_back(notes.text(0));
  }
}

// Reads the plugins' warnings, each line once.
Result<void> readPluginWarnings(const store::Database& trace, DrainTotals& totals) {
  SONDE_TRY_ASSIGN(store::Statement notes,
                   trace.prepare("SELECT source, text, count(DISTINCT process_id) FROM note WHERE "
                                 "source GLOB 'plugin*' AND severity <> 'info' GROUP BY 1, 2 "
                                 "ORDER BY min(id)"));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, notes.step());
    if (!more)
      return {};
    std::string line = fmt::format("{}: {}", notes.text(0), notes.text(1));
    if (const std::int64_t processes = notes.integer(2); processes > 1)
      line += fmt::format(" ({} processes)", processes);
    totals.warnings.push_back(std::move(line));
  }
}

}  // namespace

Result<void> countRows(const store::Database& trace, DrainTotals& totals) {
  for (const char* table : {"process",
                            "thread",
                            "slice",
                            "collective",
                            "channel",
                            "transfer",
                            "io",
                            "handoff",
                            "kernel",
                            "copy",
                            "stack_sample",
                            "iteration",
                            "scalar",
                            "arg"}) {
    SONDE_TRY_ASSIGN(const std::int64_t rows,
                     trace.queryInteger(fmt::format("SELECT count(*) FROM {}", table)));
    totals.events[table] = static_cast<std::uint64_t>(rows);
  }
  SONDE_TRY_ASSIGN(store::Statement losses,
                   trace.prepare("SELECT reason, sum(count) FROM loss GROUP BY reason"));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, losses.step());
    if (!more)
      break;
    totals.dropped[std::string(losses.text(0))] = static_cast<std::uint64_t>(losses.integer(1));
  }
  SONDE_TRY(readWarnings(trace, totals));
  return readPluginWarnings(trace, totals);
}

}  // namespace sonde::recorder
