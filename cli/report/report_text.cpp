#include "cli/report/report_text.h"

#include "cli/report/report_devices.h"
#include "cli/report/report_facts.h"
#include "cli/report/report_lines.h"
#include "cli/report/report_operations.h"
#include "cli/report/report_path.h"
#include "cli/report/report_python.h"
#include "cli/report/report_recording.h"
#include "cli/report/report_screen.h"
#include "cli/report/report_standstill.h"
#include "cli/report/report_threads.h"
#include "cli/report/report_throughput.h"
#include "cli/text/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

namespace metrics = engine::metrics;

constexpr std::size_t kLines = 40;

Cell duration(std::int64_t ns) {
  return ns;
}

// A part of the median iteration; empty if the rank has none of this kind.
Cell part(const RankReport& rank, std::string_view kind, std::int64_t ns) {
  const bool isThere = std::any_of(rank.operations.begin(),
                                   rank.operations.end(),
                                   [&](const auto& operation) { return operation.kind == kind; });
  return ns > 0 || isThere ? Cell(ns) : Cell();
}

void appendMasked(const JobReport& report, Lines& lines) {
  std::int64_t masked = 0;
  for (const RankReport& rank : report.ranks)
    masked += rank.process.maskedCount;
  if (masked > 0)
    appendLines(
        lines,
        fmt::format("  Left out: {}{} in outline, with probes off, or while the recorder stored.",
                    counted(masked, "iteration", "iterations"),
                    report.ranks.size() > 1 ? " of all ranks" : ""));
}

Lines iterationLines(const JobReport& report, std::size_t limit) {
  Table table{{{"rank", "rank"},
               {"count", "count", ColumnKind::Integer},
               {"median", "median", ColumnKind::DurationNs},
               {"p95", "p95", ColumnKind::DurationNs},
               {"max", "max", ColumnKind::DurationNs},
               {"data_load", "data", ColumnKind::DurationNs},
               {"forward", "forward", ColumnKind::DurationNs},
               {"backward", "backward", ColumnKind::DurationNs},
               {"optimizer", "optim", ColumnKind::DurationNs},
               {"other", "other", ColumnKind::DurationNs}},
              {}};
  for (const RankReport& rank : report.ranks) {
    if (!rank.parts)
      continue;
    const metrics::IterationStatistics& all = rank.iterations;
    const metrics::IterationParts& parts = *rank.parts;
    table.rows.push_back({rank.process.name,
                          all.count,
                          duration(all.medianNs),
                          duration(all.p95Ns),
                          duration(all.maxNs),
                          part(rank, "data_load", parts.dataLoadNs),
                          part(rank, "forward", parts.forwardNs),
                          part(rank, "backward", parts.backwardNs),
                          part(rank, "optimizer", parts.optimizerNs),
                          duration(parts.otherNs)});
  }
  Lines lines = {""};
  if (table.rows.empty()) {
    appendMasked(report, lines);
    if (lines.size() == 1)  // only the empty line
      appendLines(lines,
                  "No iterations: mark them with sonde.iteration(), or record the torch source.");
    return lines;
  }
  appendLines(lines,
              "Iterations, and the parts of the median one: data loading, forward, backward, "
              "optimizer, other");
  appendTable(lines, std::move(table), limit);
  appendMasked(report, lines);
  return lines;
}

constexpr std::ptrdiff_t kCopyColumn = 3;  // in the table of times

void removeColumn(Table& table, std::ptrdiff_t column) {
  table.columns.erase(table.columns.begin() + column);
  for (auto& row : table.rows)
    row.erase(row.begin() + column);
}

Lines timeLines(const JobReport& report, std::size_t limit) {
  Table table{{{"rank", "rank"},
               {"window", "window", ColumnKind::DurationNs},
               {"compute", "compute", ColumnKind::DurationNs},
               {"copy", "copying", ColumnKind::DurationNs},
               {"idle", idleTitle(report), ColumnKind::DurationNs},
               {"collectives", "collectives", ColumnKind::Integer},
               {"comm", "time", ColumnKind::DurationNs},
               {"hidden", "hidden", ColumnKind::DurationNs},
               {"exposed", "exposed", ColumnKind::DurationNs},
               {"share", "share", ColumnKind::Fraction}},
              {}};
  bool someUnknown = false;
  bool noneCopies = true;
  for (const RankReport& rank : report.ranks) {
    const metrics::RankTime& time = rank.time;
    someUnknown |= !time.computeKnown;
    noneCopies &= time.copyNs == 0;
    if (!time.computeKnown && time.collectives == 0)
      continue;
    const auto ifComputeKnown = [&](const Cell& cell) { return time.computeKnown ? cell : Cell(); };
    const Cell share =
        time.windowNs > 0
            ? Cell(static_cast<double>(time.exposedNs) / static_cast<double>(time.windowNs))
            : Cell();
    table.rows.push_back({rank.process.name,
                          duration(time.windowNs),
                          ifComputeKnown(duration(time.computeNs)),
                          duration(time.copyNs),
                          ifComputeKnown(duration(time.idleNs)),
                          time.collectives,
                          duration(time.commNs),
                          ifComputeKnown(duration(time.hiddenNs)),
                          ifComputeKnown(duration(time.exposedNs)),
                          ifComputeKnown(share)});
  }
  if (noneCopies)
    removeColumn(table, kCopyColumn);
  Lines lines = {""};
  if (table.rows.empty()) {
    appendLines(lines,
                "No passes, modules or operators were recorded: the computing time is unknown.");
    return lines;
  }
  appendLines(
      lines,
      "Computing and communicating, hidden behind computing or exposed (share: of the window)");
  // A statement about all ranks is worth a row.
  const Lines stragglers = report.standstill ? Lines() : stragglerLines(report);
  appendTable(lines, std::move(table), limit - std::min(limit - 1, stragglers.size()));
  if (someUnknown)
    appendLines(
        lines,
        "  The computing time is unknown where no passes, modules or operators were recorded.");
  lines.insert(lines.end(), stragglers.begin(), stragglers.end());
  return lines;
}

std::string conservationText(const metrics::Conservation& sum) {
  if (sum.pairs == 0)
    return "No connection has both ends in these traces.";
  if (sum.exactPairs == 0)
    return fmt::format("{} recorded at both ends, but only in part: nothing to compare",
                       counted(sum.pairs, "connection", "connections"));
  if (sum.missingBytes == 0 && sum.unsentBytes == 0 && sum.agreeingPairs == sum.exactPairs)
    return fmt::format("{} recorded at both ends: {} sent and received, byte for byte{}",
                       counted(sum.pairs, "connection", "connections"),
                       humanBytes(sum.sentBytes),
                       sum.exactPairs < sum.pairs
                           ? fmt::format(" ({} inexact, not compared)", sum.pairs - sum.exactPairs)
                           : "");
  return fmt::format(
      "{} of {} connections disagree: {} sent but not received, {} received but not sent",
      sum.exactPairs - sum.agreeingPairs,
      sum.exactPairs,
      humanBytes(sum.missingBytes),
      humanBytes(sum.unsentBytes));
}

Lines trafficLines(const JobReport& report, std::size_t limit) {
  if (report.traffic.empty())
    return {};
  Table table{{{"rank", "rank"},
               {"peer", "with"},
               {"kind", "over"},
               {"sent", "sent", ColumnKind::Bytes},
               {"received", "received", ColumnKind::Bytes},
               {"transfers", "transfers", ColumnKind::Integer}},
              {}};
  for (const metrics::PeerTraffic& traffic : report.traffic)
    table.rows.push_back({traffic.process,
                          cutTo(traffic.peer, 30),
                          traffic.kind,
                          traffic.sentBytes,
                          traffic.receivedBytes,
                          traffic.transfers});
  Lines lines = {"", "Data moved"};
  appendTable(lines, std::move(table), limit);
  appendWrapped(lines, conservationText(report.conservation), 2);
  return lines;
}

std::string valueText(const std::optional<double>& value) {
  return value ? fmt::format("{:.5g}", *value) : "NaN";
}

Lines scalarLines(const JobReport& report, std::size_t limit) {
  std::map<std::string, std::vector<const metrics::ScalarTrend*>> byName;
  for (const metrics::ScalarTrend& trend : report.scalars)
    byName[trend.name].push_back(&trend);
  Lines lines;
  for (const auto& [name, trends] : byName) {
    std::string line = fmt::format("{:<10} {}: ", lines.empty() ? "Values" : "", name);
    for (std::size_t i = 0; i < trends.size(); ++i)
      line += fmt::format("{}{} {} → {}",
                          i == 0 ? "" : ", ",
                          trends[i]->process,
                          valueText(trends[i]->first),
                          valueText(trends[i]->last));
    appendLines(lines, line);
  }
  const std::size_t hidden = lines.size() > limit ? lines.size() - limit : 0;
  lines.resize(lines.size() - hidden);
  if (hidden > 0)
    appendLines(lines, fmt::format("           … {} more: --full", hidden));
  return lines;
}

// The parts of a report from top to bottom.
class Parts {
 public:
  void add(const Lines& part) { lines_.insert(lines_.end(), part.begin(), part.end()); }
  // Adds a part. If it was left out, the last line has its name.
  void add(const Lines& part, const char* name, std::size_t limit) {
    if (limit > 0)
      add(part);
    else if (!part.empty())
      leftOut_.emplace_back(name);
  }
  Lines take() {
    if (!leftOut_.empty())
      appendLabelled(lines_, "Left out", fmt::format("{}: --full", fmt::join(leftOut_, ", ")));
    return std::move(lines_);
  }

 private:
  Lines lines_;
  std::vector<std::string> leftOut_;
};

// The line of the critical path, above those of stalls and the like.
Lines pathAndUsage(const JobReport& report, bool full, std::size_t limit) {
  Lines usage =
      full ? usageSections(report.usage, report.facts.originNs) : usageLines(report.usage, limit);
  Lines lines = pathLines(report.path);
  if (lines.empty())
    return usage;
  lines.insert(lines.begin(), "");
  const bool isSameBlock = !full && !usage.empty() && usage.front().empty();
  lines.insert(lines.end(), usage.begin() + (isSameBlock ? 1 : 0), usage.end());
  return lines;
}

Lines linesOf(const JobReport& report,
              const OperationRows& operations,
              bool full,
              const RowLimits& limits) {
  Parts parts;
  parts.add(standstillLines(report.standstill, report.facts.originNs, full));
  parts.add(headLines(report.facts, full));
  parts.add(iterationLines(report, limits.iterations));
  parts.add(throughputLines(report, limits.throughput));
  parts.add(timeLines(report, limits.times));
  if (full)
    parts.add(deviceSections(report));
  parts.add(threadLines(report, full, limits.threads), "threads", limits.threads);
  parts.add(pythonLines(report, limits.python), "Python", limits.python);
  parts.add(pathAndUsage(report, full, limits.usage));
  parts.add(operationLines(report, operations, limits.operations));
  if (full)
    parts.add(recordingLines(report));
  parts.add(trafficLines(report, limits.traffic), "data moved", limits.traffic);
  parts.add({""});
  parts.add(scalarLines(report, limits.scalars), "values", limits.scalars);
  parts.add(footLines(report.facts, full));
  if (const std::string cost = costText(report.recordingCost); !cost.empty()) {
    Lines overhead;
    appendLabelled(overhead,
                   "Overhead",
                   cost + "; times of devices, threads, calls and Python are as recorded");
    parts.add(overhead);
  }
  return parts.take();
}

}  // namespace

std::string idleTitle(const JobReport& report) {
  const auto isHost = [](const RankReport& rank) {
    return rank.time.device == metrics::RankTime().device;
  };
  if (std::none_of(report.ranks.begin(), report.ranks.end(), isHost))
    return "idle";
  return std::all_of(report.ranks.begin(), report.ranks.end(), isHost) ? "other" : "idle/other";
}

std::string renderReport(const JobReport& report, bool full) {
  const OperationRows operations = gatherOperations(report, full);
  const auto heightWith = [&](const RowLimits& limits) {
    return linesOf(report, operations, full, limits).size();
  };
  const RowLimits limits = full ? RowLimits::none() : fitted(heightWith, kLines);
  std::string text;
  for (const std::string& line : linesOf(report, operations, full, limits))
    text += line + "\n";
  return text;
}

}  // namespace sonde::cli
