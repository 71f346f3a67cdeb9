#include "analysis/engine/whatif/asked_job.h"

#include "analysis/engine/operations/operation_replay.h"
#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/replay/replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::engine::whatif {
namespace {

// Parts of an answer that replay and models do not vouch for, as fractions: of the change, since
// no question says all that a change brings; and of the whole.
constexpr double kOfChange = 0.02;
constexpr double kOfWhole = 0.001;

struct Lengths {
  double meanNs = 0;
  double standardErrorNs = 0;
};

std::vector<replay::JobIteration> wholeIterations(const Scenario& scenario) {
  std::vector<replay::JobIteration> iterations = replay::jobIterations(scenario.job());
  std::erase_if(iterations, [](const auto& each) { return !each.isWhole; });
  return iterations;
}

// The iterations; without any, the whole trace.
Lengths lengthsOf(const std::vector<replay::JobIteration>& iterations, const replay::Times& times) {
  const auto& [begin, dur] = times;
  if (iterations.empty()) {
    std::int64_t first = begin.front();
    std::int64_t last = first;
    for (std::size_t node = 0; node < begin.size(); ++node) {
      first = std::min(first, begin[node]);
      last = std::max(last, begin[node] + dur[node]);
    }
    return {static_cast<double>(last - first), 0};
  }
  const auto count = static_cast<double>(iterations.size());
  Lengths found;
  std::vector<double> all;
  for (const replay::JobIteration& each : iterations)
    all.push_back(replay::lengthOf(each, begin, dur));
  for (const double each : all)
    found.meanNs += each / count;
  double squares = 0;
  for (const double each : all)
    squares += (each - found.meanNs) * (each - found.meanNs);
  if (all.size() > 1)
    found.standardErrorNs = std::sqrt(squares / (count - 1) / count);
  return found;
}

double squareOf(double value) {
  return value * value;
}

Result<replay::ReplayReport> reportOf(const store::Database& trace, const graph::TraceGraph& job) {
  SONDE_TRY_ASSIGN(const bool hasOperations, operations::isOperationLevel(trace));
  if (!hasOperations)
    return replay::replayReport(trace, job, replay::Judge::Identity);
  SONDE_TRY_ASSIGN(const operations::OperationGraph graph, operations::readOperationGraph(trace));
  SONDE_TRY_ASSIGN(replay::ReplayReport report,
                   operations::replayOperations(graph, replay::Judge::Identity));
  report.predictedError.reset();  // the job has no launch delays, so those of others say nothing
  return report;
}

void addGainNote(Answer& answer) {
  const double gain = answer.baselineNs - answer.predictedNs;
  if (std::abs(gain) < std::abs(answer.identityError) * answer.baselineNs)
    answer.notes.push_back(fmt::format(
        "the change is smaller than the error of a replay without any change, {:.2f} %: the data "
        "cannot tell whether there is one",
        100 * std::abs(answer.identityError)));
}

}  // namespace

AskedJob::AskedJob(const store::Database& trace, graph::TraceGraph job, models::ModelSet models)
    : trace_(&trace),
      memo_(trace.remember()),
      measured_(std::move(job)),
      models_(std::move(models)) {}

Result<AskedJob> AskedJob::read(const store::Database& trace,
                                graph::TraceGraph job,
                                models::ModelSet models) {
  SONDE_TRY_ASSIGN(const replay::ReplayReport report, reportOf(trace, job));
  AskedJob asked(trace, std::move(job), std::move(models));
  asked.identityError_ = report.predictedError.value_or(report.error);
  asked.iterations_ = report.iterations;
  const replay::Times times = asked.measured_.replay();
  asked.baselineNs_ = lengthsOf(wholeIterations(asked.measured_), times).meanNs;
  SONDE_TRY_ASSIGN(ChangedPaths paths, changedPaths(trace, asked.measured_, times));
  asked.before_ = std::move(paths.shares);
  return asked;
}

Result<AskedJob::Errors> AskedJob::change(Scenario& scenario,
                                          const std::vector<Question>& questions,
                                          std::vector<std::string>& notes) const {
  Errors errors;
  std::vector<Question> afterwards;
  Asking asking{*trace_, scenario, notes, errors.ofModels, errors.ofOrder, afterwards, models_};
  for (const Question& question : questions)
    SONDE_TRY(question(asking));
  for (const Question& question : std::vector<Question>(afterwards))
    SONDE_TRY(question(asking));
  return errors;
}

Result<double> AskedJob::predictNs(const std::vector<Question>& questions) const {
  Scenario scenario(measured_);
  std::vector<std::string> notes;
  SONDE_TRY(change(scenario, questions, notes));
  return lengthsOf(wholeIterations(scenario), scenario.replay()).meanNs;
}

Result<Answer> AskedJob::ask(const std::vector<Question>& questions) const {
  Answer answer;
  answer.iterations = iterations_;
  answer.baselineNs = baselineNs_;
  answer.identityError = identityError_;
  answer.before = before_;
  Scenario scenario(measured_);
  SONDE_TRY_ASSIGN(const Errors errors, change(scenario, questions, answer.notes));

  const replay::Times then = scenario.replay();
  const Lengths predicted = lengthsOf(wholeIterations(scenario), then);
  answer.predictedNs = predicted.meanNs;
  SONDE_TRY_ASSIGN(ChangedPaths after, changedPaths(*trace_, scenario, then));
  answer.after = std::move(after.shares);
  answer.originShares = after.originShares;
  const double modelled =
      predicted.meanNs * after.originShares[static_cast<std::size_t>(Origin::Modelled)];
  const double half = std::sqrt(
      squareOf(2 * predicted.standardErrorNs) + squareOf(answer.identityError * predicted.meanNs) +
      squareOf(2 * errors.ofModels * modelled) + squareOf(2 * errors.ofOrder * predicted.meanNs) +
      squareOf(kOfChange * (predicted.meanNs - answer.baselineNs)) +
      squareOf(kOfWhole * predicted.meanNs));
  answer.lowNs = std::max(0.0, predicted.meanNs - half);
  answer.highNs = predicted.meanNs + half;
  addGainNote(answer);
  const auto nodes = static_cast<std::ptrdiff_t>(job().graph.nodes());
  answer.beginNs.assign(then.beginNs.begin(), then.beginNs.begin() + nodes);
  answer.durNs.assign(then.durNs.begin(), then.durNs.begin() + nodes);
  return answer;
}

Result<Answer> answer(const store::Database& trace,
                      graph::TraceGraph job,
                      const std::vector<Question>& questions,
                      const models::ModelSet& models) {
  SONDE_TRY_ASSIGN(const AskedJob asked, AskedJob::read(trace, std::move(job), models));
  return asked.ask(questions);
}

}  // namespace sonde::engine::whatif
