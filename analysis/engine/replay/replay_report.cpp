#include "analysis/engine/replay/replay_report.h"

#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/replay/comparison.h"
#include "analysis/engine/replay/predicted_gaps.h"
#include "analysis/engine/replay/replay.h"
#include "analysis/engine/replay/structures.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sonde::engine::replay {
namespace {

using graph::Graph;
using graph::TraceGraph;

// The shares of the critical paths that nothing explains, of iterations that all ranks have.
Result<double> gapShareOf(const store::Database& trace, const TraceGraph& graph) {
  std::int64_t unknown = 0;
  std::int64_t total = 0;
  std::vector<critical::IterationPath> paths = critical::pathsOf(graph);
  std::erase_if(paths, [](const auto& each) { return !each.isWhole; });
  SONDE_TRY_ASSIGN(const std::vector<critical::PathPart> parts,
                   critical::partsOf(trace, graph.graph, paths));
  for (const critical::PathPart& part : parts) {
    const bool isUnknown =
        part.cause == critical::PathCause::Gap || part.cause == critical::PathCause::Wait;
    unknown += isUnknown ? part.lengthNs() : 0;
    total += part.lengthNs();
  }
  return total > 0 ? static_cast<double>(unknown) / static_cast<double>(total) : 0;
}

// Compares iterations within groups of one structure.
class Judged {
 public:
  static Result<Judged> read(const store::Database& trace, const TraceGraph& graph, Judge judge) {
    Judged judged(graph, judge);
    SONDE_TRY_ASSIGN(judged.structures_,
                     structuresOf(trace, judged.graph_, judged.iterations_, judged.iterationOf_));
    for (const std::uint32_t each : judged.structures_)
      judged.groups_ = std::max<std::size_t>(judged.groups_, each + 1);
    return judged;
  }

  bool isEmpty() const { return iterations_.empty(); }
  // How many iterations not all ranks have.
  std::int64_t partial() const {
    return std::count_if(iterations_.begin(), iterations_.end(), [](const JobIteration& each) {
      return !each.isWhole;
    });
  }
  // Whether a group has iterations to judge and to build from.
  bool canJudge() const { return comparisonOf(lengths(graph_.beginNs)).iterations > 0; }

  // When nodes begin with the gaps of other iterations.
  std::vector<std::int64_t> predictedBegins() const {
    Builds builds;
    for (std::size_t i = 0; i < iterations_.size(); ++i)
      builds.push_back(isBuilder(i));
    return replay(
        graph_,
        {graph_.durNs, predictedGaps(graph_, iterations_, iterationOf_, structures_, builds)});
  }

  void fill(ReplayReport& report) const {
    const std::vector<std::int64_t> predicted = predictedBegins();
    if (judge_ == Judge::Odd) {
      compare(predicted, report);
      return;
    }
    compare(replay(graph_, {graph_.durNs, graph_.gapNs}), report);
    std::vector<Lengths> others = lengths(predicted);
    std::erase_if(others, [](const Lengths& each) { return each.measured.values.size() < 2; });
    if (!others.empty())
      report.predictedError = comparisonOf(others).error();
  }

 private:
  Judged(const TraceGraph& trace, Judge judge)
      : graph_(trace.graph),
        judge_(judge),
        iterations_(jobIterations(trace)),
        isByPlace_(graph::doNumbersRepeat(iterations_)),
        iterationOf_(iterationOfNodes(trace.graph, iterations_)) {}

  bool isOdd(std::size_t i) const {
    return (isByPlace_ ? static_cast<std::int64_t>(i) : iterations_[i].number) % 2 != 0;
  }
  bool isJudged(std::size_t i) const {
    return iterations_[i].isWhole && (judge_ == Judge::Identity || isOdd(i));
  }
  bool isBuilder(std::size_t i) const {
    return iterations_[i].isWhole && (judge_ == Judge::Identity || !isOdd(i));
  }

  // By group; of the given rank, or the mean of all.
  std::vector<Lengths> lengths(const std::vector<std::int64_t>& begin,
                               std::optional<std::int64_t> rank = std::nullopt) const {
    std::vector<Lengths> groups(groups_);
    for (std::size_t i = 0; i < iterations_.size(); ++i) {
      JobIteration each = iterations_[i];
      if (rank)
        std::erase_if(each.ranks, [&](const auto& of) { return of.rank != *rank; });
      if (each.ranks.empty())
        continue;
      Lengths& group = groups[structures_[i]];
      if (isJudged(i))
        group.measured.values.push_back(lengthOf(each, graph_.beginNs, graph_.durNs));
      if (isBuilder(i))
        group.replayed.values.push_back(lengthOf(each, begin, graph_.durNs));
    }
    return groups;
  }

  void compare(const std::vector<std::int64_t>& begin, ReplayReport& report) const {
    const std::vector<Lengths> all = lengths(begin);
    const Comparison sum = comparisonOf(all);
    report.iterations = sum.iterations;
    report.measuredNs = sum.measuredNs;
    report.replayedNs = sum.replayedNs;
    report.error = sum.error();
    report.noise = sum.noise();
    report.standardError = judge_ == Judge::Identity ? 0 : sum.standardError();
    std::set<std::int64_t> ranks;
    for (const JobIteration& each : iterations_)
      for (const graph::IterationNodes& of : each.ranks)
        ranks.insert(of.rank);
    for (const std::int64_t rank : ranks) {
      const Comparison of = comparisonOf(lengths(begin, rank));
      report.ranks.push_back({rank, of.measuredNs, of.replayedNs});
    }
    fillGroups(all, report);
  }

  void fillGroups(const std::vector<Lengths>& all, ReplayReport& report) const {
    std::vector<std::int64_t> nodes(groups_, 0);
    std::vector<std::int64_t> iterations(groups_, 0);
    for (const std::uint32_t each : structures_)
      ++iterations[each];
    for (const std::uint32_t each : iterationOf_)
      if (each != kNoIteration)
        ++nodes[structures_[each]];
    for (std::size_t i = 0; i < groups_; ++i) {
      GroupReplay group;
      group.iterations = static_cast<std::int64_t>(all[i].measured.values.size());
      group.nodes = nodes[i] / iterations[i];
      group.measuredNs = all[i].measured.mean();
      group.replayedNs = all[i].replayed.mean();
      if (group.measuredNs > 0 && !all[i].replayed.values.empty())
        group.error = group.replayedNs / group.measuredNs - 1;
      report.groups.push_back(group);
    }
  }

  const Graph& graph_;
  Judge judge_;
  std::vector<JobIteration> iterations_;
  bool isByPlace_;  // numbers repeat
  std::vector<std::uint32_t> iterationOf_;
  std::vector<std::uint32_t> structures_;  // by iteration
  std::size_t groups_ = 0;
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

Result<std::vector<std::int64_t>> replayedBegins(const store::Database& trace,
                                                 const TraceGraph& graph,
                                                 Judge judge) {
  if (judge == Judge::Identity)
    return replay(graph.graph, {graph.graph.durNs, graph.graph.gapNs});
  SONDE_TRY_ASSIGN(const Judged judged, Judged::read(trace, graph, judge));
  return judged.predictedBegins();
}

Result<ReplayReport> replayReport(const store::Database& trace,
                                  const TraceGraph& graph,
                                  Judge judge) {
  ReplayReport report;
  SONDE_TRY_ASSIGN(const Judged judged, Judged::read(trace, graph, judge));
  report.leftOut = judged.partial();
  if (judge == Judge::Odd && !judged.canJudge())
    return notFound(
        "--judge odd needs iterations with even and with odd numbers, of one structure and on all "
        "ranks: the trace has too few");
  if (!judged.isEmpty() && !judged.canJudge())
    return notFound(
        "no iteration is in the trace of every rank, so there is none to judge: record the same "
        "iterations on all ranks");
  if (judged.isEmpty())
    replayWhole(graph.graph, report);
  else
    judged.fill(report);
  SONDE_TRY_ASSIGN(report.gapShare, gapShareOf(trace, graph));
  return report;
}

}  // namespace sonde::engine::replay
