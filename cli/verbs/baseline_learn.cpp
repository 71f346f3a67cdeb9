#include "cli/verbs/baseline_learn.h"

#include "analysis/engine/diff/run_files.h"
#include "rules/baseline/baselines.h"
#include "rules/learned/learn.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace diff = engine::diff;
using nlohmann::json;

std::map<std::string, std::int64_t> countsByKind(const rules::LearnedInvariants& learned) {
  std::map<std::string, std::int64_t> counts;
  for (const rules::Invariant& each : learned.invariants)
    ++counts[each.key.kind];
  return counts;
}

Table summaryTable(const rules::LearnedInvariants& learned) {
  Table table{{textColumn("kind", "kind"),
               countColumn("invariants", "invariants"),
               countColumn("dropped", "dropped"),
               textColumn("reasons", "why dropped")},
              {}};
  const auto counts = countsByKind(learned);
  for (const std::string& kind : rules::observationKinds()) {
    const auto held = counts.find(kind);
    const auto dropped = learned.dropped.find(kind);
    if (held == counts.end() && dropped == learned.dropped.end())
      continue;
    std::int64_t sum = 0;
    std::string reasons;
    if (dropped != learned.dropped.end())
      for (const auto& [reason, count] : dropped->second) {
        sum += count;
        reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", count, reason);
      }
    table.rows.push_back({Cell(kind),
                          Cell(held == counts.end() ? std::int64_t{0} : held->second),
                          Cell(sum),
                          Cell(std::move(reasons))});
  }
  return table;
}

Table invariantTable(const rules::LearnedInvariants& learned) {
  Table table{{textColumn("kind", "kind"),
               textColumn("subject", "subject"),
               textColumn("measure", "measure"),
               textColumn("holds", "always"),
               countColumn("samples", "samples")},
              {}};
  for (const rules::Invariant& each : learned.invariants)
    table.rows.push_back({Cell(each.key.kind),
                          Cell(each.key.subject),
                          Cell(each.key.measure),
                          Cell(rules::textOf(each)),
                          Cell(each.samples)});
  return table;
}

json headOf(const rules::LearnedFile& file) {
  return {{"schema", 1},
          {"created", file.created},
          {"runs", file.learned.runs},
          {"iterations", file.learned.iterations},
          {"dropped", file.learned.dropped}};
}

}  // namespace

Result<rules::LearnedFile> learnFrom(const std::vector<std::string>& words, std::string created) {
  SONDE_TRY_ASSIGN(const std::vector<diff::RunFiles> runs, diff::runsOf(words));
  if (runs.size() > rules::kMostLearnedRuns)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("there are {} runs, but learn takes at most {}: give fewer",
                             runs.size(),
                             rules::kMostLearnedRuns)};
  std::vector<rules::RunObservations> observed;
  for (const diff::RunFiles& run : runs) {
    SONDE_TRY_ASSIGN(rules::RunObservations each, rules::readRunObservations(run));
    observed.push_back(std::move(each));
  }
  rules::LearnedFile file;
  file.created = std::move(created);
  SONDE_TRY_ASSIGN(file.learned, rules::learn(observed));
  return file;
}

std::string renderSummary(const std::string& output,
                          const rules::LearnedFile& file,
                          Format format) {
  const rules::LearnedInvariants& learned = file.learned;
  const Table table = summaryTable(learned);
  if (format == Format::Csv)
    return renderCsv(table);
  if (format == Format::Json) {
    json document = headOf(file);
    document["file"] = output;
    document["invariants"] = countsByKind(learned);
    return dumpJson(document);
  }
  return fmt::format("{}: {} runs, {} iterations, {} invariants\n\n{}",
                     output,
                     learned.runs.size(),
                     learned.iterations,
                     learned.invariants.size(),
                     renderText(table));
}

std::string renderShown(const rules::LearnedFile& file, Format format) {
  const Table table = invariantTable(file.learned);
  if (format == Format::Csv)
    return renderCsv(table);
  if (format == Format::Json) {
    json document = headOf(file);
    document["invariants"] = rowsAsObjects(table);
    return dumpJson(document);
  }
  return fmt::format("learned     {}\nruns        {}\niterations  {}\n\n{}\n{}",
                     file.created,
                     file.learned.runs.size(),
                     file.learned.iterations,
                     renderText(summaryTable(file.learned)),
                     renderText(table));
}

}  // namespace sonde::cli
