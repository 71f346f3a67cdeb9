#include "analysis/engine/operations/operation_replay.h"

#include "analysis/engine/operations/predicted_delays.h"
#include "analysis/engine/operations/step_times.h"
#include "analysis/engine/replay/comparison.h"
#include "analysis/engine/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::operations {
namespace {

using graph::Graph;
using graph::NodeIndex;
using replay::Comparison;
using replay::Judge;
using replay::Lengths;
using replay::ReplayReport;
using replay::Sample;

// The node that ends last in a step.
NodeIndex lastOf(const Graph& graph, const StepNodes& step) {
  NodeIndex last = step.anchor;
  for (NodeIndex node = step.anchor; node < step.end; ++node)
    if (graph.endNs(node) > graph.endNs(last))
      last = node;
  return last;
}

// The launch delays on the measured critical path of a step.
std::int64_t delaysOf(const Graph& graph, const StepNodes& step) {
  std::int64_t delays = 0;
  for (NodeIndex node = lastOf(graph, step); graph.firstIn[node] < graph.firstIn[node + 1];) {
    delays += graph.gapNs[node];
    const auto begin = graph.from.begin() + graph.firstIn[node];
    const auto end = graph.from.begin() + graph.firstIn[node + 1];
    node = *std::max_element(
        begin, end, [&](NodeIndex a, NodeIndex b) { return graph.endNs(a) < graph.endNs(b); });
  }
  return delays;
}

// By step.
using StepLengths = std::vector<std::int64_t>;

// How long the steps of each worker take.
std::vector<StepLengths> lengthsOfWorkers(const OperationGraph& job,
                                          const std::vector<std::int64_t>& beginNs) {
  std::vector<StepLengths> all(job.workers.size(), StepLengths(job.steps.size(), 0));
  for (std::size_t step = 0; step < job.steps.size(); ++step)
    for (NodeIndex node = job.steps[step].anchor; node < job.steps[step].end; ++node) {
      const std::uint32_t worker = job.operations[node].worker;
      if (worker == kNoWorker)
        continue;
      const std::int64_t end = beginNs[node] + job.graph.durNs[node];
      all[worker][step] = std::max(all[worker][step], end - beginNs[job.steps[step].anchor]);
    }
  return all;
}

// Compares the steps within groups of one structure. Steps that take no time do not count.
class JudgedSteps {
 public:
  JudgedSteps(const OperationGraph& job, Judge judge)
      : job_(job), judge_(judge), structures_(structuresOf(job)), measuredNs_(measuredTimes(job)) {
    for (const std::uint32_t each : structures_)
      groups_ = std::max<std::size_t>(groups_, each + 1);
  }

  std::vector<std::int64_t> predictedBegins() const {
    std::vector<bool> builds;
    for (const StepNodes& step : job_.steps)
      builds.push_back(isBuilder(step));
    return replay::replay(job_.graph,
                          {job_.graph.durNs, predictedDelays(job_, structures_, builds)});
  }
  std::vector<std::int64_t> begins() const {
    if (judge_ == Judge::Odd)
      return predictedBegins();
    return replay::replay(job_.graph,
                          {job_.graph.durNs, std::vector<std::int64_t>(job_.graph.nodes(), 0)});
  }

  Result<ReplayReport> report() const {
    const std::vector<std::int64_t> begin = begins();
    const StepLengths replayed = stepTimes(job_, begin, job_.graph.durNs);
    const std::vector<Lengths> groups = lengths(measuredNs_, replayed);
    const Comparison sum = replay::comparisonOf(groups);
    if (sum.iterations == 0)
      return notFound(nothingToJudge());
    ReplayReport report;
    report.iterations = sum.iterations;
    report.measuredNs = sum.measuredNs;
    report.replayedNs = sum.replayedNs;
    report.noise = sum.noise();
    report.gapShare = delayShare();
    if (judge_ == Judge::Odd) {
      report.error = sum.error();
      report.standardError = sum.standardError();
    } else {
      const Sample errors = errorsOf(replayed);
      report.error = errors.mean();
      if (errors.values.size() > 1)
        report.standardError = std::sqrt(errors.varianceOfMean());
      report.predictedError = predictedError();
    }
    addGroups(groups, replayed, report);
    addRanks(begin, report);
    return report;
  }

 private:
  static bool isOdd(const StepNodes& step) { return step.number % 2 != 0; }
  bool isJudged(const StepNodes& step) const { return judge_ == Judge::Identity || isOdd(step); }
  bool isBuilder(const StepNodes& step) const { return judge_ == Judge::Identity || !isOdd(step); }

  std::string nothingToJudge() const {
    if (std::all_of(measuredNs_.begin(), measuredNs_.end(), [](auto ns) { return ns <= 0; }))
      return "the operations of the job take no time";
    return fmt::format(
        "--judge odd needs steps with even and with odd numbers that have the same "
        "operations: the trace has {} {}, and no two such",
        job_.steps.size(),
        job_.steps.size() == 1 ? "step" : "steps");
  }

  // By group.
  std::vector<Lengths> lengths(const StepLengths& measured, const StepLengths& replayed) const {
    std::vector<Lengths> groups(groups_);
    for (std::size_t step = 0; step < job_.steps.size(); ++step) {
      if (measuredNs_[step] <= 0)
        continue;
      Lengths& group = groups[structures_[step]];
      if (isJudged(job_.steps[step]))
        group.measured.values.push_back(static_cast<double>(measured[step]));
      if (isBuilder(job_.steps[step]))
        group.replayed.values.push_back(static_cast<double>(replayed[step]));
    }
    return groups;
  }

  // By step: those of a group, or all.
  Sample errorsOf(const StepLengths& replayed, std::optional<std::size_t> group = {}) const {
    Sample errors;
    for (std::size_t step = 0; step < job_.steps.size(); ++step)
      if (measuredNs_[step] > 0 && (!group || structures_[step] == *group))
        errors.values.push_back(
            static_cast<double>(replayed[step]) / static_cast<double>(measuredNs_[step]) - 1);
    return errors;
  }

  std::optional<double> predictedError() const {
    std::vector<Lengths> groups =
        lengths(measuredNs_, stepTimes(job_, predictedBegins(), job_.graph.durNs));
    std::erase_if(groups, [](const Lengths& each) { return each.measured.values.size() < 2; });
    return groups.empty() ? std::nullopt
                          : std::optional<double>(replay::comparisonOf(groups).error());
  }

  double delayShare() const {
    double delays = 0;
    double total = 0;
    for (std::size_t step = 0; step < job_.steps.size(); ++step)
      if (measuredNs_[step] > 0) {
        delays += static_cast<double>(delaysOf(job_.graph, job_.steps[step]));
        total += static_cast<double>(measuredNs_[step]);
      }
    return delays / total;
  }

  void addGroups(const std::vector<Lengths>& all,
                 const StepLengths& replayed,
                 ReplayReport& report) const {
    for (std::size_t i = 0; i < groups_; ++i) {
      replay::GroupReplay group;
      group.iterations = static_cast<std::int64_t>(all[i].measured.values.size());
      const auto step = std::find(structures_.begin(), structures_.end(), i);
      const StepNodes& nodes = job_.steps[static_cast<std::size_t>(step - structures_.begin())];
      group.nodes = nodes.end - nodes.anchor;
      group.measuredNs = all[i].measured.mean();
      group.replayedNs = all[i].replayed.mean();
      if (group.measuredNs > 0 && group.replayedNs > 0)
        group.error = judge_ == Judge::Odd ? group.replayedNs / group.measuredNs - 1
                                           : errorsOf(replayed, i).mean();
      report.groups.push_back(group);
    }
  }

  void addRanks(const std::vector<std::int64_t>& begin, ReplayReport& report) const {
    const std::vector<StepLengths> measured = lengthsOfWorkers(job_, job_.graph.beginNs);
    const std::vector<StepLengths> replayed = lengthsOfWorkers(job_, begin);
    for (std::size_t worker = 0; worker < job_.workers.size(); ++worker) {
      const Comparison of = replay::comparisonOf(lengths(measured[worker], replayed[worker]));
      report.ranks.push_back({job_.workers[worker].rank, of.measuredNs, of.replayedNs});
    }
  }

  const OperationGraph& job_;
  Judge judge_;
  std::vector<std::uint32_t> structures_;  // by step
  StepLengths measuredNs_;
  std::size_t groups_ = 0;
};

}  // namespace

Result<ReplayReport> replayOperations(const OperationGraph& job, Judge judge) {
  return JudgedSteps(job, judge).report();
}

std::vector<std::int64_t> replayedBegins(const OperationGraph& job, Judge judge) {
  std::vector<std::int64_t> begin = JudgedSteps(job, judge).begins();
  const StepLengths measured = measuredTimes(job);
  const StepLengths replayed = stepTimes(job, begin, job.graph.durNs);
  std::vector<std::size_t> inTime(job.steps.size());
  std::iota(inTime.begin(), inTime.end(), std::size_t{0});
  std::sort(inTime.begin(), inTime.end(), [&](std::size_t a, std::size_t b) {
    return job.graph.beginNs[job.steps[a].anchor] < job.graph.beginNs[job.steps[b].anchor];
  });
  std::int64_t laterNs = 0;
  for (const std::size_t step : inTime) {
    for (NodeIndex node = job.steps[step].anchor; node < job.steps[step].end; ++node)
      begin[node] += laterNs;
    laterNs += replayed[step] - measured[step];
  }
  return begin;
}

}  // namespace sonde::engine::operations
