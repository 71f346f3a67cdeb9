#include "analysis/engine/pipeline/model_parts.h"
#include "analysis/engine/pipeline/read_pipeline.h"
#include "analysis/engine/pipeline/stage_messages.h"
#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/whatif/lane_lookup.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sonde::engine::pipeline {
namespace {

using graph::EdgeKind;
using graph::Graph;
using graph::LaneIndex;
using graph::NodeIndex;

using Between = std::pair<std::size_t, std::pair<std::int64_t, std::int64_t>>;  // copy, stages

// The messages from one stage to another. Only those that the receiver waited for show how long
// they were on their way.
struct Lags {
  std::vector<double> known;
  double nowNs = 0;  // of all edges, after earlier questions
  double measuredNs = 0;
};

double medianNs(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class MessageReader {
 public:
  MessageReader(const whatif::Scenario& scenario,
                const Computations& computations,
                const ModelParts& parts)
      : scenario_(scenario),
        graph_(scenario.graph()),
        lookup_(graph_),
        computations_(computations),
        parts_(parts) {}

  Result<PipelineJob> read() {
    job_.shape = {parts_.stages, parts_.chunks, 1};
    const auto stages = static_cast<std::size_t>(parts_.stages);
    job_.lanes.assign(parts_.copies, std::vector<graph::Lane>(stages));
    job_.lagNs.resize(parts_.copies);
    job_.dropped.assign(graph_.edges(), false);
    isInside_.assign(graph_.nodes(), false);
    SONDE_TRY(findIterations());
    for (const auto& [lane, place] : parts_.places) {
      job_.lanes[place.copy][static_cast<std::size_t>(place.stage)] = graph_.lanes[lane];
      for (std::size_t iteration = 0; iteration < iterations_.size(); ++iteration)
        SONDE_TRY(addRun(lane, iteration));
    }
    dropMessages();
    return std::move(job_);
  }

 private:
  Result<void> findIterations() {
    iterations_ = replay::jobIterations(scenario_.job());
    if (iterations_.empty())
      return notFound("a pipeline's schedule is that of an iteration: the trace has none");
    const replay::IterationWindows windows(graph_, iterations_);
    for (std::size_t each = 0; each < computations_.all.size(); ++each) {
      const Computation& of = computations_.all[each];
      const std::uint32_t iteration = windows.at(graph_.lanes[of.lane], of.beginNs);
      if (iteration != replay::kNoIteration)
        members_[{of.lane, iteration}].push_back(each);
      iterationOf_.push_back(iteration);
    }
    // The number of a microbatch is its place where it begins.
    std::map<std::pair<LaneIndex, std::uint32_t>, std::int64_t> forwards;
    std::map<std::pair<LaneIndex, std::uint32_t>, std::int64_t> backwards;
    number_.assign(computations_.all.size(), 0);
    for (std::size_t each = 0; each < computations_.all.size(); ++each) {
      const Computation& of = computations_.all[each];
      if (!of.producer)
        number_[each] = (of.isForward ? forwards : backwards)[{of.lane, iterationOf_[each]}]++;
    }
    job_.iterations.resize(iterations_.size());
    for (PipelineIteration& each : job_.iterations)
      each.runs.assign(parts_.copies,
                       std::vector<StageRun>(static_cast<std::size_t>(parts_.stages)));
    return {};
  }

  Result<void> addRun(LaneIndex lane, std::size_t iteration);
  void addBorders(LaneIndex lane,
                  std::int64_t endNs,
                  const graph::IterationNodes& of,
                  StageRun& run);
  void dropMessages();

  // The thread's own time, as it is now.
  double ownNs(LaneIndex lane, std::int64_t fromNs, std::int64_t untilNs) const {
    double sum = 0;
    const auto [first, last] = lookup_.rangeOf(lane);
    for (NodeIndex node = std::max(first + 1, lookup_.beginsFrom(lane, fromNs)) - 1;
         node < last && graph_.beginNs[node] < untilNs;
         ++node)
      sum += scenario_.lengthNs(node, fromNs, untilNs);
    return sum;
  }

  const whatif::Scenario& scenario_;
  const Graph& graph_;
  whatif::LaneLookup lookup_;
  const Computations& computations_;
  const ModelParts& parts_;
  PipelineJob job_;
  std::vector<replay::JobIteration> iterations_;
  std::map<std::pair<LaneIndex, std::size_t>, std::vector<std::size_t>> members_;
  std::vector<std::uint32_t> iterationOf_;  // by computation
  std::vector<std::int64_t> number_;        // of the microbatch, where it begins; by computation
  std::vector<bool> isInside_;              // by node: it begins in a run
};

Result<void> MessageReader::addRun(LaneIndex lane, std::size_t iteration) {
  const StagePlace place = parts_.places.at(lane);
  StageRun& run =
      job_.iterations[iteration].runs[place.copy][static_cast<std::size_t>(place.stage)];
  const auto members = members_.find({lane, iteration});
  const auto& ranks = iterations_[iteration].ranks;
  const auto nodes = std::find_if(ranks.begin(), ranks.end(), [&](const auto& each) {
    return each.processId == graph_.lanes[lane].processId;
  });
  if (members == members_.end() || nodes == ranks.end())
    return notFound("some stages of the pipeline compute nothing in some iterations");
  const Computation& first = computations_.all[members->second.front()];
  run.beginNs = first.beginNs;
  if (first.producer)
    run.beginNs = std::clamp(first.receiveNs, graph_.beginNs[nodes->first], first.beginNs);
  std::int64_t at = run.beginNs;
  for (const std::size_t each : members->second) {
    const Computation& of = computations_.all[each];
    StageOperation operation;
    operation.turn = {of.isForward,
                      static_cast<std::int64_t>(iteration),
                      number_[static_cast<std::size_t>(parts_.originOf[each])],
                      parts_.part[each] / parts_.stages};
    operation.own = {ownNs(lane, at, of.endNs), of.row};
    at = std::max(at, of.endNs);
    if (of.sendEndNs) {
      operation.send = Span{ownNs(lane, at, *of.sendEndNs), 0};
      at = std::max(at, *of.sendEndNs);
    }
    run.operations.push_back(operation);
  }
  addBorders(lane, at, *nodes, run);
  return {};
}

// The run begins behind the last node before it, or within that one, and ends before the next node
// behind it.
void MessageReader::addBorders(LaneIndex lane,
                               std::int64_t endNs,
                               const graph::IterationNodes& of,
                               StageRun& run) {
  const auto [first, last] = lookup_.rangeOf(lane);
  NodeIndex next = lookup_.beginsFrom(lane, run.beginNs);
  while (next < last && graph_.beginNs[next] == run.beginNs && graph_.durNs[next] == 0)
    ++next;
  if (next > first)
    run.entries.push_back(
        {next - 1, std::max<std::int64_t>(0, run.beginNs - graph_.endNs(next - 1))});
  NodeIndex exit = next > first ? next - 1 : next;
  for (; exit < last && graph_.beginNs[exit] < endNs; ++exit) {
    run.inside.push_back(
        {exit, std::max(graph_.beginNs[exit], run.beginNs), std::min(graph_.endNs(exit), endNs)});
    isInside_[exit] = graph_.beginNs[exit] >= run.beginNs;
    if (graph_.endNs(exit) > endNs)
      break;
  }
  if (exit < last)
    run.exits.push_back({exit});
  if (exit > of.last)
    run.exits.push_back({of.last});
  for (NodeIndex node = of.first; node <= of.last && node < last; ++node)
    for (const auto& [from, until] :
         {std::pair(graph_.beginNs[node], std::min(graph_.endNs(node), run.beginNs)),
          std::pair(std::max(graph_.beginNs[node], endNs), graph_.endNs(node))})
      if (from < until)
        run.outside.push_back({node, from, until});
}

// Stages no longer wait for the messages of the job.
void MessageReader::dropMessages() {
  std::map<Between, Lags> lags;
  for (NodeIndex node = 0; node < graph_.nodes(); ++node) {
    const auto to = parts_.places.find(graph_.lane[node]);
    if (!isInside_[node] || to == parts_.places.end())
      continue;
    for (std::uint32_t edge = graph_.firstIn[node]; edge < graph_.firstIn[node + 1]; ++edge) {
      const auto from = parts_.places.find(graph_.lane[graph_.from[edge]]);
      if (graph_.edgeKind[edge] != EdgeKind::Message || from == parts_.places.end() ||
          from->second.copy != to->second.copy)
        continue;
      job_.dropped[edge] = true;
      Lags& of = lags[{to->second.copy, {from->second.stage, to->second.stage}}];
      of.nowNs += static_cast<double>(scenario_.lagNs()[edge]);
      of.measuredNs += static_cast<double>(graph_.lagNs[edge]);
    }
  }
  for (const Computation& each : computations_.all)
    if (each.onItsWayNs) {
      const StagePlace& from = parts_.places.at(computations_.all[*each.producer].lane);
      lags[{from.copy, {from.stage, parts_.places.at(each.lane).stage}}].known.push_back(
          static_cast<double>(*each.onItsWayNs));
    }
  for (auto& [between, of] : lags)
    if (!of.known.empty())
      job_.lagNs[between.first].emplace(
          between.second, medianNs(of.known) * (of.measuredNs > 0 ? of.nowNs / of.measuredNs : 1));
}

}  // namespace

Result<PipelineJob> readMessagePipeline(const store::Database& trace,
                                        const whatif::Scenario& scenario) {
  SONDE_TRY_ASSIGN(const Computations computations, readComputations(trace, scenario.graph()));
  SONDE_TRY_ASSIGN(const ModelParts parts, partsOf(computations));
  return MessageReader(scenario, computations, parts).read();
}

}  // namespace sonde::engine::pipeline
