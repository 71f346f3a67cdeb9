#include "cli/graph/graph_output.h"

#include "analysis/engine/critical/cause_colours.h"
#include "cli/report/report_lines.h"
#include "cli/text/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace critical = engine::critical;
using engine::graph::Graph;

std::string entityOf(const Graph& graph, engine::graph::LaneIndex index) {
  return engine::graph::entityOf(graph.lanes[index]);
}

const char* nameOf(engine::graph::IterationSource source) {
  using Source = engine::graph::IterationSource;
  return source == Source::Recorded      ? "recorded"
         : source == Source::Periodicity ? "periodicity"
                                         : "none";
}

bool hasWork(const engine::graph::Lane& lane) {
  return lane.kind == engine::graph::LaneKind::Thread ||
         lane.kind == engine::graph::LaneKind::Stream;
}

// Text inside of quotes in Graphviz' language.
std::string dotText(const std::string& text) {
  std::string escaped;
  for (const char each : text) {
    if (each == '"' || each == '\\')
      escaped += '\\';
    escaped += each;
  }
  return escaped;
}

// Whose paths these are: "60 iterations".
std::string subjectOf(const GraphView& view) {
  const auto count = static_cast<std::int64_t>(view.paths.size());
  if (!view.operation.empty())
    return fmt::format("{} '{}'", counted(count, "time", "times"), view.operation);
  return view.paths.front().number ? counted(count, "iteration", "iterations") : "the whole trace";
}

// The time of all paths.
std::int64_t lengthOf(const std::vector<critical::IterationPath>& paths) {
  std::int64_t ns = 0;
  for (const critical::IterationPath& each : paths)
    ns += each.lengthNs();
  return ns;
}

template <typename Kinds>
nlohmann::json countsOf(const Kinds& kinds, std::size_t count) {
  std::vector<std::int64_t> counts(count, 0);
  for (const auto kind : kinds)
    ++counts[static_cast<std::size_t>(kind)];
  using Kind = typename Kinds::value_type;
  nlohmann::json found = nlohmann::json::object();
  for (std::size_t i = 0; i < count; ++i)
    if (counts[i] > 0)
      found[engine::graph::nameOf(static_cast<Kind>(i))] = counts[i];
  return found;
}

}  // namespace

Table pathTable(const GraphView& view) {
  Table table{{textColumn("entity", "where"),
               textColumn("cause", "cause"),
               textColumn("what", "what"),
               durationColumn("ns", "time"),
               shareColumn("share", "share"),
               countColumn("parts", "parts")},
              {}};
  for (const critical::PathShare& each : view.shares)
    table.rows.push_back({entityOf(view.trace.graph, each.lane),
                          std::string(critical::nameOf(each.cause)),
                          each.what,
                          each.ns,
                          each.share,
                          each.parts});
  return table;
}

namespace {

Table slackTable(const GraphView& view) {
  Table table{{textColumn("entity", "where"),
               durationColumn("path_ns", "on the path"),
               durationColumn("slack_ns", "slack")},
              {}};
  for (const critical::LaneSlack& each : view.slacks)
    table.rows.push_back({entityOf(view.trace.graph, each.lane), each.pathNs, each.slackNs});
  return table;
}

Table stragglerTable(const GraphView& view) {
  Table table{{rankColumn(),
               textColumn("operation", "operation"),
               textColumn("cause", "cause"),
               durationColumn("ns", "an iteration loses"),
               shareColumn("share", "share"),
               shareColumn("confidence", "confidence")},
              {}};
  for (const engine::stragglers::Straggler& each : view.stragglers)
    table.rows.push_back({each.rank,
                          each.operation,
                          std::string(critical::nameOf(each.cause)),
                          each.ns,
                          each.share,
                          each.confidence});
  return table;
}

Table memoryTable(const GraphView& view) {
  Table table{{rankColumn(),
               textColumn("process", "process"),
               textColumn("place", "memory of"),
               textColumn("allocator", "allocator"),
               bytesColumn("peak_bytes", "peak"),
               bytesColumn("base_bytes", "base"),
               {"iteration", "iteration", ColumnKind::Number},
               textColumn("operation", "operation"),
               {"node", "node", ColumnKind::Number}},
              {}};
  for (const engine::footprint::MemoryRow& each : *view.memory)
    table.rows.push_back(
        {orNone(each.rank),
         each.process,
         each.place,
         each.allocator,
         each.peakBytes,
         each.baseBytes,
         orNone(each.iteration),
         each.operation,
         each.node == engine::graph::kNoNode ? Cell() : Cell(std::int64_t{each.node})});
  return table;
}

std::string memoryText(const GraphView& view) {
  Table table = memoryTable(view);
  if (table.rows.empty())
    return "\nno allocations were recorded\n";
  // The process has the rank in its name.
  table.columns.erase(table.columns.begin());
  for (std::vector<Cell>& row : table.rows)
    row.erase(row.begin());
  return "\npeaks of memory\n" + renderText(table, 2, 120);
}

nlohmann::json secondOf(const GraphView& view, std::size_t path) {
  if (path >= view.seconds.size() || !view.seconds[path])
    return nullptr;
  const critical::SecondPart& second = *view.seconds[path];
  return {{"behind_ns", second.behindNs},
          {"entity", entityOf(view.trace.graph, second.through.lane)},
          {"node", second.through.node},
          {"cause", critical::nameOf(second.through.cause)},
          {"what", second.through.what}};
}

nlohmann::json iterationsOf(const GraphView& view) {
  nlohmann::json all = nlohmann::json::array();
  for (std::size_t i = 0; i < view.paths.size(); ++i) {
    const critical::IterationPath& each = view.paths[i];
    all.push_back({{"iteration", each.number ? nlohmann::json(*each.number) : nlohmann::json()},
                   {"rank", each.rank < 0 ? nlohmann::json() : nlohmann::json(each.rank)},
                   {"ns", each.lengthNs()},
                   {"second_path", secondOf(view, i)}});
  }
  return all;
}

// The lane that the second paths lead through most often, and how far they are behind on average.
std::string secondText(const GraphView& view) {
  std::map<engine::graph::LaneIndex, std::int64_t> lanes;
  std::int64_t count = 0;
  std::int64_t behind = 0;
  for (const auto& each : view.seconds)
    if (each) {
      ++lanes[each->through.lane];
      ++count;
      behind += each->behindNs;
    }
  if (count == 0)
    return "";
  const auto most = std::max_element(
      lanes.begin(), lanes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool isOne = count == 1;
  return fmt::format("the next longest path is {}{} shorter, {}through {}\n",
                     isOne ? "" : "on average ",
                     humanDuration(behind / count),
                     isOne ? "" : "mostly ",
                     entityOf(view.trace.graph, most->first));
}

// The path part by part.
nlohmann::json stepsOf(const GraphView& view) {
  nlohmann::json all = nlohmann::json::array();
  for (const critical::PathPart& each : view.parts)
    all.push_back({{"entity", entityOf(view.trace.graph, each.lane)},
                   {"node", each.node},
                   {"cause", critical::nameOf(each.cause)},
                   {"what", each.what},
                   {"start_ns", each.beginNs - view.paths.front().beginNs},
                   {"ns", each.lengthNs()}});
  return all;
}

}  // namespace

nlohmann::json jsonOf(const GraphView& view, bool withPath) {
  const Graph& graph = view.trace.graph;
  nlohmann::json checks = nlohmann::json::array();
  for (const engine::graph::Check& each : view.trace.checks)
    checks.push_back({{"check", each.name},
                      {"violations", each.violations},
                      {"worst_ns", each.worstNs},
                      {"text", each.text}});
  nlohmann::json out = {{"schema", 1},
                        {"nodes", countsOf(graph.kind, engine::graph::kNodeKinds)},
                        {"edges", countsOf(graph.edgeKind, engine::graph::kEdgeKinds)},
                        {"checks", std::move(checks)},
                        {"iterations_from", nameOf(view.trace.iterationSource)}};
  if (view.memory)
    out["memory"] = rowsAsObjects(memoryTable(view));
  if (withPath) {
    out["iterations"] = iterationsOf(view);
    out["path_ns"] = lengthOf(view.paths);
    out["critical_path"] = rowsAsObjects(pathTable(view));
    if (view.paths.size() == 1)
      out["path"] = stepsOf(view);
    out["slack"] = rowsAsObjects(slackTable(view));
    out["stragglers"] = rowsAsObjects(stragglerTable(view));
    out["stragglers_reason"] = textOrNull(view.whyNoStragglers);
  }
  return out;
}

std::string textOf(const GraphView& view, bool withPath) {
  const Graph& graph = view.trace.graph;
  std::string text = fmt::format("{} nodes and {} edges on {} threads and streams\n",
                                 humanCount(static_cast<std::int64_t>(graph.nodes())),
                                 humanCount(static_cast<std::int64_t>(graph.edges())),
                                 std::count_if(graph.lanes.begin(), graph.lanes.end(), hasWork));
  for (const engine::graph::Check& each : view.trace.checks)
    if (each.violations > 0)
      text += fmt::format(
          "{}: {}{}\n",
          humanCount(each.violations),
          each.text,
          each.worstNs > 0 ? fmt::format(" (by up to {})", humanDuration(each.worstNs)) : "");
  if (view.memory)
    text += memoryText(view);
  if (!withPath)
    return text;
  if (view.trace.iterationSource == engine::graph::IterationSource::Periodicity)
    text += "nothing marks the iterations: these are the repetitions of what the job does\n";
  text += fmt::format(
      "\ncritical path of {}, {} in all\n", subjectOf(view), humanDuration(lengthOf(view.paths)));
  Table table = pathTable(view);
  constexpr std::size_t kMostLines = 30;
  const std::size_t lines = table.rows.size();
  table.rows.resize(std::min(lines, kMostLines));
  text += renderText(table, 2, 120);
  if (lines > kMostLines)
    text += fmt::format("  and {} more lines: --format csv has all\n", lines - kMostLines);
  text += secondText(view);
  Table slacks = slackTable(view);
  constexpr std::size_t kMostSlacks = 10;
  slacks.rows.resize(std::min(slacks.rows.size(), kMostSlacks));
  text += fmt::format("\nthreads and streams with the least slack{}\n",
                      view.operation.empty() ? ", mean of the iterations" : "");
  text += renderText(slacks, 2, 120);
  if (!view.stragglers.empty())
    text +=
        "\nstragglers: an iteration would be shorter if the rank did this as fast as the others\n" +
        renderText(stragglerTable(view), 2, 120);
  if (!view.whyNoStragglers.empty())
    text += "\n" + view.whyNoStragglers + "\n";
  return text;
}

exports::BarChart chartOf(const GraphView& view, const std::string& title) {
  exports::BarChart chart;
  chart.title = title;
  chart.notes = {fmt::format(
      "The critical path of {}: how long each rank held up the job, by cause.", subjectOf(view))};
  std::map<std::int64_t, std::map<critical::PathCause, std::int64_t>> ranks;
  std::map<critical::PathCause, std::size_t> series;
  for (const critical::PathShare& each : view.shares) {
    ranks[view.trace.graph.lanes[each.lane].rank][each.cause] += each.ns;
    series[each.cause] = 0;
  }
  for (auto& [cause, index] : series) {
    index = chart.series.size();
    chart.series.emplace_back(critical::nameOf(cause));
    chart.colours.emplace_back(critical::kCauseColours.at(static_cast<std::size_t>(cause)));
  }
  for (const auto& [rank, parts] : ranks) {
    exports::BarChart::Bar bar;
    for (const auto& [cause, ns] : parts) {
      bar.parts.push_back({series[cause], ns, ns});
      bar.ns += ns;
    }
    bar.lowNs = bar.highNs = bar.rawNs = bar.ns;
    chart.groups.push_back(
        {rank >= 0 ? fmt::format("rank {}", rank) : "no rank", {std::move(bar)}});
  }
  return chart;
}

std::string dotOf(const Graph& graph, engine::graph::NodeIndex node) {
  const engine::graph::Successors next = engine::graph::successorsOf(graph);
  std::set<engine::graph::NodeIndex> near = {node};
  for (int round = 0; round < 2; ++round)
    for (const engine::graph::NodeIndex each : std::set(near)) {
      near.insert(graph.from.begin() + graph.firstIn[each],
                  graph.from.begin() + graph.firstIn[each + 1]);
      near.insert(next.to.begin() + next.firstOut[each], next.to.begin() + next.firstOut[each + 1]);
    }
  std::string text = "digraph sonde {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const engine::graph::NodeIndex each : near) {
    text += fmt::format("  n{} [label=\"{} {}\\n{}\\n{}\"{}];\n",
                        each,
                        engine::graph::nameOf(graph.kind[each]),
                        each,
                        dotText(entityOf(graph, graph.lane[each])),
                        humanDuration(graph.durNs[each]),
                        each == node ? ", style=bold" : "");
    for (std::uint32_t edge = graph.firstIn[each]; edge < graph.firstIn[each + 1]; ++edge)
      if (near.contains(graph.from[edge]))
        text += fmt::format("  n{} -> n{} [label=\"{}{}\"];\n",
                            graph.from[edge],
                            each,
                            engine::graph::nameOf(graph.edgeKind[edge]),
                            graph.lagNs[edge] > 0 ? " +" + humanDuration(graph.lagNs[edge]) : "");
  }
  return text + "}\n";
}

}  // namespace sonde::cli
