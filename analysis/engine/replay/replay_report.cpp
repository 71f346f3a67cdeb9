#include "analysis/engine/replay/replay_report.h"

#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/replay/predicted_gaps.h"
#include "analysis/engine/replay/replay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace sonde::engine::replay {
namespace {

using graph::Graph;
using graph::TraceGraph;

struct Sample {
  std::vector<double> values;

  double mean() const {
    double sum = 0;
    for (const double value : values)
      sum += value;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
  }
  double variance() const {
    if (values.size() < 2)
      return 0;
    const double centre = mean();
    double sum = 0;
    for (const double value : values)
      sum += (value - centre) * (value - centre);
    return sum / static_cast<double>(values.size() - 1);
  }
  double varianceOfMean() const {
    return values.empty() ? 0 : variance() / static_cast<double>(values.size());
  }
};

// The shares of the critical paths that nothing explains.
Result<double> gapShareOf(const store::Database& trace, const TraceGraph& graph) {
  std::int64_t unknown = 0;
  std::int64_t total = 0;
  SONDE_TRY_ASSIGN(const std::vector<critical::PathPart> parts,
                   critical::partsOf(trace, graph.graph, critical::pathsOf(graph)));
  for (const critical::PathPart& part : parts) {
    const bool isUnknown =
        part.cause == critical::PathCause::Gap || part.cause == critical::PathCause::Wait;
    unknown += isUnknown ? part.lengthNs() : 0;
    total += part.lengthNs();
  }
  return total > 0 ? static_cast<double>(unknown) / static_cast<double>(total) : 0;
}

// Lengths of iterations, measured and replayed.
class Judged {
 public:
  Judged(const TraceGraph& trace, Judge judge)
      : graph_(trace.graph),
        judge_(judge),
        iterations_(jobIterations(trace)),
        iterationOf_(iterationOfNodes(trace.graph, iterations_)) {}

  bool isEmpty() const {
    return std::none_of(iterations_.begin(), iterations_.end(), [this](const JobIteration& each) {
      return isJudged(each);
    });
  }
  bool canBuild() const {
    return std::any_of(iterations_.begin(), iterations_.end(), [this](const JobIteration& each) {
      return isBuilder(each);
    });
  }

  // When nodes begin with the gaps of other iterations.
  std::vector<std::int64_t> predictedBegins() const {
    return replay(graph_, {graph_.durNs, predictedGaps(graph_, iterationOf_, builders())});
  }

  void fill(ReplayReport& report) const {
    const std::vector<std::int64_t> predicted = predictedBegins();
    const std::vector<std::int64_t> own = replay(graph_, {graph_.durNs, graph_.gapNs});
    const bool isIdentity = judge_ == Judge::Identity;
    compare(isIdentity ? own : predicted, report);
    if (isIdentity && iterations_.size() > 1) {
      ReplayReport other;
      compare(predicted, other);
      report.predictedError = other.error;
    }
  }

 private:
  bool isOdd(const JobIteration& each) const { return each.number % 2 != 0; }
  bool isJudged(const JobIteration& each) const { return judge_ == Judge::Identity || isOdd(each); }
  bool isBuilder(const JobIteration& each) const {
    return judge_ == Judge::Identity || !isOdd(each);
  }
  Builds builders() const {
    Builds builds;
    for (const JobIteration& each : iterations_)
      builds.push_back(isBuilder(each));
    return builds;
  }

  void compare(const std::vector<std::int64_t>& begin, ReplayReport& report) const {
    Sample measured;
    Sample replayed;
    std::map<std::int64_t, std::pair<Sample, Sample>> ranks;
    for (const JobIteration& each : iterations_) {
      if (isJudged(each))
        measured.values.push_back(lengthOf(each, graph_.beginNs, graph_.durNs));
      if (isBuilder(each))
        replayed.values.push_back(lengthOf(each, begin, graph_.durNs));
      for (const graph::IterationNodes& rank : each.ranks) {
        const JobIteration alone{each.number, {rank}};
        if (isJudged(each))
          ranks[rank.rank].first.values.push_back(lengthOf(alone, graph_.beginNs, graph_.durNs));
        if (isBuilder(each))
          ranks[rank.rank].second.values.push_back(lengthOf(alone, begin, graph_.durNs));
      }
    }
    report.iterations = static_cast<std::int64_t>(measured.values.size());
    report.measuredNs = measured.mean();
    report.replayedNs = replayed.mean();
    const double scale = report.measuredNs > 0 ? 1 / report.measuredNs : 0;
    report.error = (report.replayedNs - report.measuredNs) * scale;
    report.noise = std::sqrt(measured.variance()) * scale;
    report.standardError =
        judge_ == Judge::Identity
            ? 0
            : std::sqrt(measured.varianceOfMean() + replayed.varianceOfMean()) * scale;
    for (const auto& [rank, samples] : ranks)
      report.ranks.push_back({rank, samples.first.mean(), samples.second.mean()});
  }

  const Graph& graph_;
  Judge judge_;
  std::vector<JobIteration> iterations_;
  std::vector<std::uint32_t> iterationOf_;
};

// A trace without iterations: from its first begin to its last end.
void replayWhole(const Graph& graph, ReplayReport& report) {
  const std::vector<std::int64_t> begin = replay(graph, {graph.durNs, graph.gapNs});
  const std::int64_t first = *std::min_element(graph.beginNs.begin(), graph.beginNs.end());
  std::int64_t measured = first;
  std::int64_t replayed = first;
  for (graph::NodeIndex node = 0; node < graph.nodes(); ++node) {
    measured = std::max(measured, graph.endNs(node));
    replayed = std::max(replayed, begin[node] + graph.durNs[node]);
  }
  report.measuredNs = static_cast<double>(measured - first);
  report.replayedNs = static_cast<double>(replayed - first);
  report.error =
      report.measuredNs > 0 ? (report.replayedNs - report.measuredNs) / report.measuredNs : 0;
}

}  // namespace

std::vector<std::int64_t> replayedBegins(const TraceGraph& graph, Judge judge) {
  return judge == Judge::Odd ? Judged(graph, judge).predictedBegins()
                             : replay(graph.graph, {graph.graph.durNs, graph.graph.gapNs});
}

Result<ReplayReport> replayReport(const store::Database& trace,
                                  const TraceGraph& graph,
                                  Judge judge) {
  ReplayReport report;
  const Judged judged(graph, judge);
  if (judge == Judge::Odd && (judged.isEmpty() || !judged.canBuild()))
    return notFound(
        "--judge odd needs iterations with even and with odd numbers: the trace has too few");
  if (judged.isEmpty())
    replayWhole(graph.graph, report);
  else
    judged.fill(report);
  SONDE_TRY_ASSIGN(report.gapShare, gapShareOf(trace, graph));
  return report;
}

}  // namespace sonde::engine::replay
