#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/critical/lane_slack.h"
#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/stragglers/trace_work.h"
#include "cli/report/report_lines.h"
#include "cli/shell/command.h"
#include "cli/shell/open_job.h"
#include "cli/text/number_checks.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace critical = engine::critical;
using engine::graph::Graph;
using engine::graph::TraceGraph;

// The graph and the critical path of one trace, as the verb shows them.
struct Shown {
  TraceGraph trace;
  std::vector<critical::IterationPath> paths;
  std::vector<critical::PathShare> shares;
  std::vector<critical::LaneSlack> slacks;
  std::vector<engine::stragglers::Straggler> stragglers;
};

// The host, device and communication threads of a rank are apart by their names.
std::string entityOf(const Graph& graph, engine::graph::LaneIndex index) {
  const engine::graph::Lane& lane = graph.lanes[index];
  if (lane.kind == engine::graph::LaneKind::Meetings)
    return "all ranks";
  return fmt::format("{} {}, {}",
                     lane.rank >= 0 ? "rank" : "process",
                     lane.rank >= 0 ? lane.rank : lane.processId,
                     lane.name);
}

// The time of all paths.
std::int64_t lengthOf(const std::vector<critical::IterationPath>& paths) {
  std::int64_t ns = 0;
  for (const critical::IterationPath& each : paths)
    ns += each.lengthNs();
  return ns;
}

class GraphCommand : public Command {
 public:
  const char* name() const override { return "graph"; }
  const char* summary() const override {
    return "show the data-flow graph of a job and the critical path of its iterations";
  }
  const char* details() const override {
    return "Builds one graph of all ranks: what each part of threads and device streams needed "
           "before it could begin.\n"
           "The critical path is the chain that determines when an iteration ends.\n"
           "\nExamples:\n"
           "  sonde graph job.sonde --critical-path\n"
           "  sonde graph rank0.sonde rank1.sonde --iteration 12 --critical-path --format json\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("--iteration", iteration_, "only this iteration")
        ->check(count())
        ->type_name("N");
    app.add_flag("--critical-path", criticalPath_, "list what the iterations' time is made of");
    addFormatOption(app, format_);
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  Result<Shown> read();
  std::int64_t iteration_ = -1;
  bool criticalPath_ = false;
  Format format_ = Format::Table;
  std::vector<std::string> traces_;
};

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

Table pathTable(const Shown& shown) {
  Table table{{textColumn("entity", "where"),
               textColumn("cause", "cause"),
               textColumn("what", "what"),
               durationColumn("ns", "time"),
               shareColumn("share", "share"),
               countColumn("parts", "parts")},
              {}};
  for (const critical::PathShare& each : shown.shares)
    table.rows.push_back({entityOf(shown.trace.graph, each.lane),
                          std::string(critical::nameOf(each.cause)),
                          each.what,
                          each.ns,
                          each.share,
                          each.parts});
  return table;
}

Table slackTable(const Shown& shown) {
  Table table{{textColumn("entity", "where"),
               durationColumn("path_ns", "on the path"),
               durationColumn("slack_ns", "slack")},
              {}};
  for (const critical::LaneSlack& each : shown.slacks)
    table.rows.push_back({entityOf(shown.trace.graph, each.lane), each.pathNs, each.slackNs});
  return table;
}

Table stragglerTable(const Shown& shown) {
  Table table{{rankColumn(),
               textColumn("operation", "operation"),
               textColumn("cause", "cause"),
               durationColumn("ns", "an iteration loses"),
               shareColumn("share", "share"),
               shareColumn("confidence", "confidence")},
              {}};
  for (const engine::stragglers::Straggler& each : shown.stragglers)
    table.rows.push_back({each.rank,
                          each.operation,
                          std::string(critical::nameOf(each.cause)),
                          each.ns,
                          each.share,
                          each.confidence});
  return table;
}

nlohmann::json iterationsOf(const Shown& shown) {
  nlohmann::json all = nlohmann::json::array();
  for (const critical::IterationPath& each : shown.paths)
    all.push_back({{"iteration", each.number ? nlohmann::json(*each.number) : nlohmann::json()},
                   {"rank", each.rank},
                   {"ns", each.lengthNs()}});
  return all;
}

nlohmann::json jsonOf(const Shown& shown, bool withPath) {
  const Graph& graph = shown.trace.graph;
  nlohmann::json checks = nlohmann::json::array();
  for (const engine::graph::Check& each : shown.trace.checks)
    checks.push_back({{"check", each.name},
                      {"violations", each.violations},
                      {"worst_ns", each.worstNs},
                      {"text", each.text}});
  nlohmann::json out = {{"schema", 1},
                        {"nodes", countsOf(graph.kind, engine::graph::kNodeKinds)},
                        {"edges", countsOf(graph.edgeKind, engine::graph::kEdgeKinds)},
                        {"checks", std::move(checks)}};
  if (withPath) {
    out["iterations"] = iterationsOf(shown);
    out["path_ns"] = lengthOf(shown.paths);
    out["critical_path"] = rowsAsObjects(pathTable(shown));
    out["slack"] = rowsAsObjects(slackTable(shown));
    out["stragglers"] = rowsAsObjects(stragglerTable(shown));
  }
  return out;
}

std::string textOf(const Shown& shown, bool withPath) {
  const Graph& graph = shown.trace.graph;
  std::string text = fmt::format("{} nodes and {} edges on {} threads and streams\n",
                                 humanCount(static_cast<std::int64_t>(graph.nodes())),
                                 humanCount(static_cast<std::int64_t>(graph.edges())),
                                 graph.lanes.size() - 1);
  for (const engine::graph::Check& each : shown.trace.checks)
    if (each.violations > 0)
      text += fmt::format(
          "{}: {}{}\n",
          humanCount(each.violations),
          each.text,
          each.worstNs > 0 ? fmt::format(" (by up to {})", humanDuration(each.worstNs)) : "");
  if (!withPath)
    return text;
  text += fmt::format(
      "\ncritical path of {}, {} in all\n",
      shown.paths.front().number
          ? counted(static_cast<std::int64_t>(shown.paths.size()), "iteration", "iterations")
          : "the whole trace",
      humanDuration(lengthOf(shown.paths)));
  Table table = pathTable(shown);
  constexpr std::size_t kMostLines = 30;
  const std::size_t lines = table.rows.size();
  table.rows.resize(std::min(lines, kMostLines));
  text += renderText(table, 2, 120);
  if (lines > kMostLines)
    text += fmt::format("  and {} more lines: --format csv has all\n", lines - kMostLines);
  Table slacks = slackTable(shown);
  constexpr std::size_t kMostSlacks = 10;
  slacks.rows.resize(std::min(slacks.rows.size(), kMostSlacks));
  text += "\nthreads and streams with the least slack, mean of the iterations\n";
  text += renderText(slacks, 2, 120);
  if (!shown.stragglers.empty())
    text +=
        "\nstragglers: an iteration would be shorter if the rank did this as fast as the others\n" +
        renderText(stragglerTable(shown), 2, 120);
  return text;
}

Result<Shown> GraphCommand::read() {
  SONDE_TRY_ASSIGN(Job job, Job::open(name(), traces_));
  Shown shown;
  SONDE_TRY_ASSIGN(shown.trace, engine::graph::readGraph(job.database()));
  const auto only = iteration_ < 0 ? std::nullopt : std::optional(iteration_);
  shown.paths = critical::pathsOf(shown.trace, only);
  if (shown.paths.empty())
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("there is no iteration {}: 'sonde report' lists them", iteration_)};
  std::vector<critical::PathPart> all;
  for (const critical::IterationPath& each : shown.paths) {
    SONDE_TRY_ASSIGN(std::vector<critical::PathPart> parts,
                     critical::partsOf(job.database(), shown.trace.graph, each.path));
    std::move(parts.begin(), parts.end(), std::back_inserter(all));
  }
  shown.shares = critical::sharesOf(all);
  shown.slacks = critical::laneSlacks(shown.trace.graph, shown.paths);
  if (!criticalPath_)
    return shown;
  SONDE_TRY_ASSIGN(const engine::stragglers::Work work,
                   engine::stragglers::workOf(job.database(), shown.trace));
  shown.stragglers = engine::stragglers::findStragglers(work);
  return shown;
}

int GraphCommand::run() {
  const auto shown = read();
  if (!shown)
    return fail(name(), shown.error());
  if (format_ == Format::Json)
    printOut(dumpJson(jsonOf(*shown, criticalPath_)));
  else if (format_ == Format::Csv)
    printOut(renderCsv(pathTable(*shown)));
  else
    printOut(textOf(*shown, criticalPath_));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeGraphCommand() {
  return std::make_unique<GraphCommand>();
}

}  // namespace sonde::cli
