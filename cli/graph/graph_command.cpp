#include "analysis/engine/critical/operation_paths.h"
#include "analysis/engine/operations/read_job.h"
#include "analysis/store/trace_name.h"
#include "cli/breakdown/breakdown_plot.h"
#include "cli/graph/graph_output.h"
#include "cli/shell/command.h"
#include "cli/shell/open_job.h"
#include "cli/text/number_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace critical = engine::critical;

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
    app.add_option("--operation", operation_, "the paths of this operation instead of iterations")
        ->type_name("NAME");
    app.add_flag("--critical-path", criticalPath_, "list what the iterations' time is made of");
    app.add_flag("--memory", memory_, "list the peak of each process's memory");
    app.add_option(
           "--plot", plot_, "draw the critical path by rank and cause, in this .svg or .png")
        ->type_name("FILE");
    app.add_option("--dot", node_, "print this node's neighbours for Graphviz")
        ->check(count())
        ->type_name("NODE");
    app.add_flag("-f,--force", force_, "replace the picture if it exists");
    addFormatOption(app, format_);
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  Result<void> checkOptions() const;
  Result<void> findPaths(const store::Database& trace, GraphView& view) const;
  Result<void> readMemory(const store::Database& trace, GraphView& view) const;
  Result<GraphView> read(const store::Database& trace) const;
  Result<void> show(const GraphView& view) const;
  std::int64_t iteration_ = -1;
  std::string operation_;
  bool criticalPath_ = false;
  bool memory_ = false;
  std::string plot_;
  std::int64_t node_ = -1;
  bool force_ = false;
  Format format_ = Format::Table;
  std::vector<std::string> traces_;
};

// "iterations 3 to 12", whose numbers may have gaps.
std::string iterationsText(const std::vector<engine::graph::IterationNodes>& iterations) {
  if (iterations.empty())
    return "no iterations";
  const auto [first, last] = std::minmax_element(
      iterations.begin(), iterations.end(), [](const auto& one, const auto& other) {
        return one.number < other.number;
      });
  return first->number == last->number
             ? fmt::format("only iteration {}", first->number)
             : fmt::format("iterations {} to {}", first->number, last->number);
}

Result<void> GraphCommand::findPaths(const store::Database& trace, GraphView& view) const {
  if (!operation_.empty()) {
    SONDE_TRY_ASSIGN(view.paths, critical::pathsOfOperation(trace, view.trace.graph, operation_));
    if (iteration_ >= 0)
      std::erase_if(view.paths, [&](const auto& each) { return each.number != iteration_; });
    if (!view.paths.empty())
      return {};
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' did not begin {} times", operation_, iteration_ + 1)};
  }
  const auto only = iteration_ < 0 ? std::nullopt : std::optional(iteration_);
  view.paths = critical::pathsOf(view.trace, only);
  if (!view.paths.empty())
    return {};
  return Error{ErrorCode::InvalidArgument,
               fmt::format("there is no iteration {}: the trace has {}",
                           iteration_,
                           iterationsText(view.trace.iterations))};
}

Result<void> GraphCommand::readMemory(const store::Database& trace, GraphView& view) const {
  namespace footprint = engine::footprint;
  SONDE_TRY_ASSIGN(const auto logs, engine::metrics::readMemoryLogs(trace));
  SONDE_TRY_ASSIGN(const auto clock, engine::align::JobClock::read(trace));
  const engine::graph::Graph& graph = view.trace.graph;
  SONDE_TRY_ASSIGN(
      view.memory,
      footprint::memoryRows(
          trace, footprint::heldMemory(logs, view.trace, clock, {graph.beginNs, graph.durNs})));
  return {};
}

Result<GraphView> GraphCommand::read(const store::Database& trace) const {
  GraphView view;
  view.operation = operation_;
  SONDE_TRY_ASSIGN(engine::operations::JobGraph graph,
                   engine::operations::readJob(trace, criticalPath_));
  view.trace = std::move(graph.trace);
  view.stragglers = std::move(graph.stragglers);
  view.whyNoStragglers = std::move(graph.whyNoStragglers);
  if (memory_)
    SONDE_TRY(readMemory(trace, view));
  SONDE_TRY(findPaths(trace, view));
  SONDE_TRY_ASSIGN(view.parts, critical::partsOf(trace, view.trace.graph, view.paths));
  if (criticalPath_) {
    SONDE_TRY_ASSIGN(view.seconds, critical::secondPartsOf(trace, view.trace.graph, view.paths));
  }
  view.shares = critical::sharesOf(view.parts);
  view.slacks = critical::laneSlacks(view.trace.graph, view.paths);
  return view;
}

Result<void> GraphCommand::checkOptions() const {
  if (node_ >= 0 && !plot_.empty())
    return Error{ErrorCode::InvalidArgument,
                 "--dot prints a part of the graph and draws no picture: leave out --plot"};
  if (node_ >= 0 && format_ != Format::Table)
    return Error{ErrorCode::InvalidArgument,
                 "--dot prints Graphviz' own language: leave out --format"};
  if (plot_.empty())
    return {};
  SONDE_TRY(checkPlotName(plot_));
  SONDE_TRY(checkApart(plot_, traces_));
  return store::checkOutput(plot_, force_, {}, "--plot");
}

Result<void> GraphCommand::show(const GraphView& view) const {
  if (node_ >= 0) {
    const auto nodes = static_cast<std::int64_t>(view.trace.graph.nodes());
    if (node_ >= nodes)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("there is no node {}: the last one is {}", node_, nodes - 1)};
    printOut(dotOf(view.trace.graph, static_cast<engine::graph::NodeIndex>(node_)));
    return {};
  }
  if (!plot_.empty())
    SONDE_TRY(writePlot(
        chartOf(view, fmt::format("{}: critical path", fmt::join(traces_, ", "))), plot_, force_));
  if (format_ == Format::Json)
    printOut(dumpJson(jsonOf(view, criticalPath_)));
  else if (format_ == Format::Csv)
    printOut(renderCsv(pathTable(view)));
  else
    printOut(textOf(view, criticalPath_));
  return {};
}

int GraphCommand::run() {
  if (const auto options = checkOptions(); !options)
    return fail(name(), options.error());
  auto job = Job::open(name(), traces_);
  if (!job)
    return fail(name(), job.error());
  const auto view = read(job->database());
  if (!view)
    return failToAnswer(name(), view.error());
  if (const auto done = show(*view); !done)
    return fail(name(), done.error());
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeGraphCommand() {
  return std::make_unique<GraphCommand>();
}

}  // namespace sonde::cli
