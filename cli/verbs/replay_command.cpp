#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/operations/arrange.h"
#include "analysis/engine/operations/operation_replay.h"
#include "analysis/engine/replay/replay_report.h"
#include "analysis/engine/retime/retime.h"
#include "analysis/store/scratch.h"
#include "analysis/store/trace_name.h"
#include "cli/report/report_lines.h"
#include "cli/shell/command.h"
#include "cli/shell/open_job.h"
#include "cli/shell/progress_bar.h"
#include "cli/text/json_value.h"
#include "cli/text/table.h"
#include "cli/text/word_option.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using engine::replay::Judge;
using engine::replay::ReplayReport;

std::int64_t wholeNs(double ns) {
  return std::llround(ns);
}

Table rankTable(const ReplayReport& report) {
  Table table{{rankColumn(),
               durationColumn("measured_ns", "measured"),
               durationColumn("replayed_ns", "replayed")},
              {}};
  for (const engine::replay::RankReplay& each : report.ranks)
    table.rows.push_back({each.rank < 0 ? Cell() : Cell(each.rank),
                          wholeNs(each.measuredNs),
                          wholeNs(each.replayedNs)});
  return table;
}

Table groupTable(const ReplayReport& report) {
  Table table{{countColumn("iterations", "iterations"),
               countColumn("nodes", "nodes"),
               durationColumn("measured_ns", "measured"),
               durationColumn("replayed_ns", "replayed"),
               shareColumn("error", "error")},
              {}};
  for (const engine::replay::GroupReplay& each : report.groups)
    table.rows.push_back({each.iterations,
                          each.nodes,
                          each.iterations > 0 ? Cell(wholeNs(each.measuredNs)) : Cell(),
                          each.replayedNs > 0 ? Cell(wholeNs(each.replayedNs)) : Cell(),
                          each.error ? Cell(*each.error) : Cell()});
  return table;
}

nlohmann::json jsonOf(const ReplayReport& report) {
  return {{"schema", 1},
          {"iterations", report.iterations},
          {"left_out", report.leftOut},
          {"measured_ns", wholeNs(report.measuredNs)},
          {"replayed_ns", wholeNs(report.replayedNs)},
          {"error", report.error},
          {"standard_error", orNull(report.standardError)},
          {"noise", orNull(report.noise)},
          {"gap_share", report.gapShare},
          {"predicted_gaps_error", orNull(report.predictedError)},
          {"ranks", rowsAsObjects(rankTable(report))},
          {"groups", rowsAsObjects(groupTable(report))}};
}

std::string signedPercent(double fraction) {
  return fmt::format("{:+.2f} %", 100 * fraction);
}

std::string textOf(const ReplayReport& report, Judge judge) {
  std::string text;
  if (report.iterations == 0)
    text = fmt::format("the whole trace, which has no iterations: measured {}, replayed {}\n",
                       humanDuration(wholeNs(report.measuredNs)),
                       humanDuration(wholeNs(report.replayedNs)));
  else
    text = fmt::format("mean of {} iterations: measured {}, replayed {}\n",
                       report.iterations,
                       humanDuration(wholeNs(report.measuredNs)),
                       humanDuration(wholeNs(report.replayedNs)));
  if (report.leftOut > 0)
    text += fmt::format("without {} that not all ranks have\n",
                        counted(report.leftOut, "iteration", "iterations"));
  text += fmt::format("error {}", signedPercent(report.error));
  if (judge == Judge::Odd)
    text += fmt::format(
        "{} (even iterations against odd ones)",
        report.standardError ? fmt::format(" ± {:.2f} %", 200 * *report.standardError) : "");
  if (report.noise)
    text += fmt::format("; iterations vary by {:.2f} %", 100 * *report.noise);
  text += "\n";
  if (report.predictedError)
    text += fmt::format("error with the gaps of other iterations: {}\n",
                        signedPercent(*report.predictedError));
  text += fmt::format("unexplained share of the critical path: {:.2f} %\n", 100 * report.gapShare);
  if (report.groups.size() > 1)
    text += fmt::format("\n{} structures of iterations, each compared on its own\n",
                        report.groups.size()) +
            renderText(groupTable(report), 2);
  if (report.ranks.size() > 1)
    text += "\n" + renderText(rankTable(report), 2);
  return text;
}

class ReplayCommand : public Command {
 public:
  const char* name() const override { return "replay"; }
  const char* summary() const override {
    return "replay the data-flow graph of a job and state how exact that is";
  }
  const char* details() const override {
    return "Computes when each part of the job begins, from how long each takes and what it needs, "
           "and compares the\n"
           "result with the measured iterations. Shows how far to trust an answer of 'sonde "
           "whatif'.\n"
           "With -o the replayed timeline becomes a trace, which all verbs and the window accept.\n"
           "\nExamples:\n"
           "  sonde replay job.sonde\n"
           "  sonde replay job.sonde --judge odd --format json\n"
           "  sonde replay job.sonde --judge odd -o replayed.sonde\n";
  }
  void declare(CLI::App& app) override {
    takeOneOf(OptionWords<Judge>{{"odd", Judge::Odd}},
              "judge",
              app.add_option("--judge",
                             judge_,
                             "replay the even iterations with the gaps of each other, and compare "
                             "with the odd ones"));
    app.add_option("-o,--output", output_, "write the replayed timeline as a trace")
        ->type_name("OUT");
    app.add_flag("-f,--force", force_, "replace the output if it exists");
    addFormatOption(app, format_);
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  Result<void> checkOutput() const;
  Result<ReplayReport> read(const store::Database& trace);
  Result<ReplayReport> readOperations(const store::Database& trace) const;
  Result<void> write(const store::Database& trace, const engine::graph::TraceGraph& graph) const;
  Result<void> write(const store::Database& trace,
                     const engine::operations::OperationGraph& job) const;
  engine::retime::RetimeOptions options() const;
  void noteFaults(const engine::graph::TraceGraph& graph);

  Judge judge_ = Judge::Identity;
  std::string output_;
  bool force_ = false;
  Format format_ = Format::Table;
  std::vector<std::string> traces_;
  std::string faults_;  // of the job or its trace, in lines
};

Result<void> ReplayCommand::checkOutput() const {
  if (output_.empty())
    return {};
  SONDE_TRY(checkApart(output_, traces_));
  return store::checkOutput(output_, force_);
}

engine::retime::RetimeOptions ReplayCommand::options() const {
  return {.output = output_,
          .inputs = {traces_.begin(), traces_.end()},
          .overwrite = force_,
          .how = judge_ == Judge::Odd ? "odd" : "identity",
          .progress = ProgressBar::progress()};
}

Result<void> ReplayCommand::write(const store::Database& trace,
                                  const engine::graph::TraceGraph& graph) const {
  const store::Scratch scratch(store::unfinishedTrace(output_, force_));
  const ProgressBar bar(name());
  SONDE_TRY_ASSIGN(const std::vector<std::int64_t> begin,
                   engine::replay::replayedBegins(trace, graph, judge_));
  return engine::retime::retime(trace, graph, {begin, graph.graph.durNs}, options());
}

Result<void> ReplayCommand::write(const store::Database& trace,
                                  const engine::operations::OperationGraph& job) const {
  const store::Scratch scratch(store::unfinishedTrace(output_, force_));
  const ProgressBar bar(name());
  engine::graph::TraceGraph graph;
  graph.graph = job.graph;
  engine::retime::RetimeOptions retimed = options();
  retimed.how = judge_ == Judge::Odd ? "odd" : "no_delays";
  retimed.then = engine::operations::arrangeOperations;
  return engine::retime::retime(
      trace, graph, {engine::operations::replayedBegins(job, judge_), job.graph.durNs}, retimed);
}

Result<ReplayReport> ReplayCommand::readOperations(const store::Database& trace) const {
  SONDE_TRY_ASSIGN(const engine::operations::OperationGraph graph,
                   engine::operations::readOperationGraph(trace));
  SONDE_TRY_ASSIGN(ReplayReport report, engine::operations::replayOperations(graph, judge_));
  if (!output_.empty())
    SONDE_TRY(write(trace, graph));
  return report;
}

void ReplayCommand::noteFaults(const engine::graph::TraceGraph& graph) {
  for (const engine::graph::Check& each : graph.checks)
    if (each.violations > 0 && (each.name == "mismatch" || each.name == "clocks" ||
                                each.name == "ranks" || each.name == "iterations"))
      faults_ += fmt::format("{}: {}\n", humanCount(each.violations), each.text);
}

Result<ReplayReport> ReplayCommand::read(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const bool hasOperations, engine::operations::isOperationLevel(trace));
  if (hasOperations)
    return readOperations(trace);
  SONDE_TRY_ASSIGN(const engine::graph::TraceGraph graph, engine::graph::readGraph(trace));
  noteFaults(graph);
  SONDE_TRY_ASSIGN(ReplayReport report, engine::replay::replayReport(trace, graph, judge_));
  if (!output_.empty())
    SONDE_TRY(write(trace, graph));
  return report;
}

int ReplayCommand::run() {
  if (const auto output = checkOutput(); !output)
    return fail(name(), output.error());
  auto job = Job::open(name(), traces_);
  if (!job)
    return fail(name(), job.error());
  const auto report = read(job->database());
  if (!report)
    return failToAnswer(name(), report.error());
  if (format_ == Format::Json)
    printOut(dumpJson(jsonOf(*report)));
  else if (format_ == Format::Csv)
    printOut(renderCsv(rankTable(*report)));
  else
    printOut(textOf(*report, judge_) + faults_);
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeReplayCommand() {
  return std::make_unique<ReplayCommand>();
}

}  // namespace sonde::cli
