#include "cli/report/report_recording.h"

#include "cli/text/table.h"

#include <cstddef>
#include <limits>
#include <string>
#include <utility>

namespace sonde::cli {
namespace {

namespace metrics = engine::metrics;

void addRow(const RankReport& rank,
            std::string what,
            const metrics::CorrectedNs& time,
            Table& table) {
  table.rows.push_back(
      {rank.process.name, std::move(what), time.rawNs, time.ns, time.lowNs, time.highNs});
}

metrics::CorrectedNs sumOf(const std::vector<metrics::CorrectedNs>& times) {
  metrics::CorrectedNs sum;
  for (const metrics::CorrectedNs& each : times)
    sum = {
        sum.ns + each.ns, sum.rawNs + each.rawNs, sum.lowNs + each.lowNs, sum.highNs + each.highNs};
  return sum;
}

void addWindow(const RankReport& rank, Table& table) {
  const auto add = [&](const char* what, std::int64_t metrics::RankTime::*part) {
    addRow(rank,
           what,
           {rank.time.*part, rank.rawTime.*part, rank.lowTime.*part, rank.highTime.*part},
           table);
  };
  add("window", &metrics::RankTime::windowNs);
  if (rank.time.computeKnown)
    add("computing", &metrics::RankTime::computeNs);
  if (rank.time.commNs > 0)
    add("communicating", &metrics::RankTime::commNs);
}

}  // namespace

Lines recordingLines(const JobReport& report) {
  if (!report.recordingCost.known)
    return {};
  Table table{{{"rank", "rank"},
               {"what", "what"},
               {"raw_ns", "recorded", ColumnKind::DurationNs},
               {"ns", "without it", ColumnKind::DurationNs},
               {"low_ns", "from", ColumnKind::DurationNs},
               {"high_ns", "to", ColumnKind::DurationNs}},
              {}};
  for (const RankReport& rank : report.ranks) {
    if (!rank.iterationTimes.empty())
      addRow(rank, "iterations", sumOf(rank.iterationTimes), table);
    addWindow(rank, table);
    for (std::size_t at = 0; at < rank.operations.size(); ++at)
      addRow(rank,
             operationName(rank.operations[at].kind, rank.operations[at].name),
             rank.operationTimes[at],
             table);
  }
  Lines lines = {"", "Cost of recording: times as recorded, and without it"};
  appendTable(lines, std::move(table), std::numeric_limits<std::size_t>::max());
  return lines;
}

}  // namespace sonde::cli
