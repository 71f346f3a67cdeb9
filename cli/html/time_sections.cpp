// Where the time went: iterations, parts of them, computing and communicating, the critical path,
// operations.
#include "cli/html/html_sections.h"
#include "cli/html/html_table.h"
#include "cli/html/plots.h"
#include "cli/report/report_operations.h"
#include "cli/report/report_path.h"
#include "cli/report/report_usage_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sonde::cli {
namespace {

using engine::report::RankReport;

// The limit of the rule step-outlier for a rank.
std::optional<double> outlierLimit(const rules::CheckReport& check, const std::string& entity) {
  for (const rules::CheckResult& result : check.results)
    if (result.rule == "step-outlier" && result.entity == entity)
      if (const auto found = result.outcome.evidence.find("limit_ns");
          found != result.outcome.evidence.end())
        if (const auto* ns = std::get_if<std::int64_t>(&found->second))
          return static_cast<double>(*ns);
  return {};
}

LinePlot iterationPlot(const HtmlValues& values) {
  LinePlot plot;
  plot.title = "Duration of each iteration, by rank";
  plot.xTitle = "iteration";
  for (const RankReport& rank : values.report.ranks) {
    if (rank.process.iterations.empty())
      continue;
    LinePlot::Series& series = plot.series.emplace_back();
    series.name = rank.process.name;
    series.limit = outlierLimit(values.check, rank.process.name);
    for (const engine::metrics::IterationTime& each : rank.process.iterations)
      series.points.push_back({static_cast<double>(each.number), static_cast<double>(each.durNs)});
  }
  return plot;
}

Table iterationTable(const HtmlValues& values) {
  Table table{{textColumn("process", "rank"),
               countColumn("count", "iterations"),
               durationColumn("p50_ns", "median"),
               durationColumn("p95_ns", "p95"),
               durationColumn("min_ns", "shortest"),
               durationColumn("max_ns", "longest")},
              {}};
  for (const RankReport& rank : values.report.ranks)
    if (rank.iterations.count > 0)
      table.rows.push_back({rank.process.name,
                            rank.iterations.count,
                            rank.iterations.medianNs,
                            rank.iterations.p95Ns,
                            rank.iterations.minNs,
                            rank.iterations.maxNs});
  return table;
}

StackedBars partBars(const HtmlValues& values) {
  StackedBars bars{{"data loading", "forward", "backward", "optimizer", "other"},
                   ColumnKind::DurationNs,
                   {},
                   true};
  for (const RankReport& rank : values.report.ranks)
    if (const auto& parts = rank.parts)
      bars.bars.push_back({rank.process.name,
                           {parts->dataLoadNs,
                            parts->forwardNs,
                            parts->backwardNs,
                            parts->optimizerNs,
                            parts->otherNs}});
  return bars;
}

const UsageTable* usageTable(const std::string& key) {
  const auto& all = usageTables();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const UsageTable& each) { return each.key == key; });
  return found == all.end() ? nullptr : &*found;
}

StackedBars rankBars(const HtmlValues& values) {
  StackedBars bars{{"computing",
                    "exposed communication",
                    "exposed copies",
                    "waiting for data",
                    idleTitle(values.report)},
                   ColumnKind::DurationNs,
                   {},
                   true};
  for (const RankReport& rank : values.report.ranks)
    if (rank.time.computeKnown && rank.time.windowNs > 0)
      bars.bars.push_back({fmt::format("{}, {}", rank.process.name, rank.time.device),
                           {rank.time.computeNs,
                            rank.time.exposedNs,
                            rank.time.exposedCopyNs,
                            rank.idleLoadNs,
                            rank.time.idleNs - rank.idleLoadNs}});
  return bars;
}

StackedBars pathBars(const engine::report::PathReport& path) {
  StackedBars bars{{}, ColumnKind::DurationNs, {{"critical path", {}}}, false};
  for (const engine::report::PathCauseShare& each : path.causes) {
    std::string name = engine::critical::nameOf(each.cause);
    std::replace(name.begin(), name.end(), '_', ' ');
    bars.series.push_back(
        each.what.empty() ? name : fmt::format("{}: {}", name, cutInside(each.what, 40)));
    bars.bars[0].parts.push_back(each.ns);
  }
  return bars;
}

}  // namespace

bool addIterations(Page& page, const HtmlValues& values) {
  const LinePlot plot = iterationPlot(values);
  if (plot.series.empty())
    return false;
  beginSection(page, "iterations", "Iterations");
  addPlot(page, plot);
  const bool isMarked = std::any_of(
      plot.series.begin(), plot.series.end(), [](const auto& series) { return series.limit; });
  page.element(
      "p",
      isMarked ? "As recorded. Circles: above the limit of the rule step-outlier." : "As recorded.",
      {{"class", "note"}});
  addTable(page, iterationTable(values), kHtmlRanks);
  if (const StackedBars parts = partBars(values); !parts.bars.empty()) {
    page.element("h3", "Parts of the median iteration");
    addBars(page, parts, kHtmlRanks);
  }
  if (const UsageTable* const changes = usageTable("changes")) {
    const Table table = changes->make(values.report.usage, values.report.facts.originNs);
    if (!table.rows.empty()) {
      page.element("h3", changes->heading);
      addTable(page, table, kHtmlRows);
    }
  }
  page.end();
  return true;
}

bool addTimes(Page& page, const HtmlValues& values) {
  const StackedBars ranks = rankBars(values);
  const engine::report::PathReport& path = values.report.path;
  if (ranks.bars.empty() && path.causes.empty())
    return false;
  beginSection(page, "time", "Where the time went");
  if (!ranks.bars.empty()) {
    page.element("h3", "Computing and communicating, in each rank's window");
    addBars(page, ranks, kHtmlRanks);
  }
  if (!path.causes.empty()) {
    page.element("h3",
                 fmt::format("The critical path of {}",
                             counted(path.iterations, "iteration", "iterations")));
    addBars(page, pathBars(path), 1);
    page.element("p",
                 "A path is the chain of work and waits that an iteration could not end without.",
                 {{"class", "note"}});
  }
  page.end();
  return true;
}

bool addOperations(Page& page, const HtmlValues& values) {
  const OperationRows rows = gatherOperations(values.report, false);
  if (rows.empty())
    return false;
  Table table{{textColumn("operation", "operation"),
               countColumn("count", "count"),
               durationColumn("ns", "time of all ranks"),
               durationColumn("p50_ns", "p50"),
               durationColumn("p95_ns", "p95")},
              {}};
  StackedBars bars{{"time of all ranks"}, ColumnKind::DurationNs, {}, false};
  for (const auto& [name, row] : rows) {
    const std::string title = operationName(name.first, name.second);
    table.rows.push_back({title, row.count, row.totalNs, row.p50Ns, row.p95Ns});
    bars.bars.push_back({title, {row.totalNs}});
  }
  beginSection(page, "operations", "Operations");
  bars.bars.resize(std::min(bars.bars.size(), kHtmlRows));
  addBars(page, bars, kHtmlRows);
  addTable(page, table, kHtmlRows);
  page.element("p",
               "Operations may contain each other. Percentiles: of the rank with the greatest.",
               {{"class", "note"}});
  page.end();
  return true;
}

}  // namespace sonde::cli
