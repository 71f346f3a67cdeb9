#include "analysis/engine/whatif/compute/cuda_graphs.h"

#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/whatif/lane_lookup.h"
#include "analysis/engine/whatif/launches.h"
#include "analysis/engine/whatif/span_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using graph::LaneIndex;
using graph::NodeIndex;

// The relative error of the launch of a graph, which depends on its number of nodes.
constexpr double kGuess = 0.5;

// The launches of one thread in one iteration, from the begin of the first one to the end of the
// last one.
struct Launching {
  Span span;
  Span first;
  std::int64_t launches = 0;

  void add(const Span& call) {
    if (launches++ == 0) {
      span = call;
      first = call;
      return;
    }
    if (call.beginNs < first.beginNs)
      first = call;
    span = {std::min(span.beginNs, call.beginNs), std::max(span.endNs, call.endNs)};
  }
};

// By iteration (an index of jobIterations()) and process, then by thread.
using Launchings = std::map<std::pair<std::uint32_t, std::int64_t>, std::map<LaneIndex, Launching>>;

class Graphs {
 public:
  Graphs(Asking& asking, CudaGraphs of)
      : asking_(asking),
        of_(of),
        iterations_(graph::jobIterations(asking.scenario.job())),
        windows_(asking.scenario.graph(), iterations_),
        lookup_(asking.scenario.graph()) {}

  Result<void> run() {
    SONDE_TRY(readLaunchings());
    std::erase_if(found_, [](const auto& iteration) {
      std::int64_t launches = 0;
      for (const auto& [lane, of] : iteration.second)
        launches += of.launches;
      return launches < 2;
    });
    if (found_.empty())
      return notFound("no iteration of the trace launches several kernels");
    for (const auto& [place, threads] : found_)
      for (const auto& [lane, of] : threads)
        SONDE_TRY(checkWaits(place.first, lane, of));
    for (const auto& [place, threads] : found_)
      capture(threads);
    addNote();
    return {};
  }

 private:
  const graph::Graph& graph() const { return asking_.scenario.graph(); }

  // Copies from the host bring an iteration its data, and stay.
  Result<void> readLaunchings() {
    return forEachLaunch(asking_.trace, graph(), [&](const Launched& each) {
      const graph::Lane& lane = graph().lanes[each.thread];
      const std::uint32_t iteration = windows_.at(lane, each.call.beginNs);
      if (iteration != replay::kNoIteration && !each.isCopy)
        found_[{iteration, lane.processId}][each.thread].add(each.call);
    });
  }

  Result<void> checkWaits(std::uint32_t iteration, LaneIndex lane, const Launching& of) const {
    const NodeIndex end = lookup_.rangeOf(lane).second;
    for (NodeIndex node = lookup_.beginsFrom(lane, of.span.beginNs + 1);
         node < end && graph().beginNs[node] < of.span.endNs;
         ++node)
      for (std::uint32_t edge = graph().firstIn[node]; edge < graph().firstIn[node + 1]; ++edge)
        if (graph().edgeKind[edge] == graph::EdgeKind::Sync)
          return Error{
              ErrorCode::InvalidArgument,
              fmt::format("{} waits for its device between the launches of iteration {}, which a "
                          "graph cannot contain: no-host-syncs leaves out all waits but an "
                          "iteration's last one",
                          graph::entityOf(graph().lanes[lane]),
                          iterations_[iteration].number)};
    return {};
  }

  void capture(const std::map<LaneIndex, Launching>& threads) {
    const auto first =
        std::min_element(threads.begin(), threads.end(), [](const auto& a, const auto& b) {
          return a.second.first.beginNs < b.second.first.beginNs;
        });
    for (const auto& [lane, of] : threads) {
      scaleSpan(asking_.scenario, lookup_, lane, of.span, 0, Origin::Scaled);
      launches_ += of.launches;
    }
    setCall(first->first, first->second.first);
  }

  // The call takes as long as the launch of a graph.
  void setCall(LaneIndex lane, const Span& call) {
    const auto [first, end] = lookup_.rangeOf(lane);
    NodeIndex node = lookup_.beginsFrom(lane, call.beginNs);
    if (node > first)
      --node;
    while (node < end && graph().endNs(node) <= call.beginNs)
      ++node;
    if (node == end || graph().beginNs[node] >= call.endNs)
      return;
    asking_.scenario.setStretch(node,
                                std::max(graph().beginNs[node], call.beginNs),
                                std::min(graph().endNs(node), call.endNs),
                                static_cast<double>(of_.launchNs),
                                Origin::Modelled);
  }

  void addNote() {
    asking_.modelError = std::max(asking_.modelError, kGuess);
    asking_.notes.push_back(fmt::format(
        "{:.0f} launches of an iteration become one of a graph, which takes {:.3g} us: an "
        "assumption. From the first to the last launch threads do nothing else, so the program may "
        "not depend on results or other shapes there",
        static_cast<double>(launches_) / static_cast<double>(found_.size()),
        static_cast<double>(of_.launchNs) / 1e3));
  }

  Asking& asking_;
  const CudaGraphs of_;
  const std::vector<graph::JobIteration> iterations_;
  const replay::IterationWindows windows_;
  const LaneLookup lookup_;
  Launchings found_;
  std::int64_t launches_ = 0;
};

}  // namespace

Question cudaGraphs(CudaGraphs of) {
  return [of](Asking& asking) -> Result<void> {
    if (of.launchNs < 0)
      return Error{ErrorCode::InvalidArgument, "the launch of a graph takes no negative time"};
    return Graphs(asking, of).run();
  };
}

}  // namespace sonde::engine::whatif
