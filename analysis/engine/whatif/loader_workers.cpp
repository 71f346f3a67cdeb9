#include "analysis/engine/whatif/loader_workers.h"

#include "analysis/engine/counters/processor_use.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/engine/whatif/lane_lookup.h"
#include "analysis/engine/whatif/loads.h"
#include "analysis/engine/whatif/span_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using graph::EdgeKind;
using graph::Graph;
using graph::kNoNode;
using graph::LaneIndex;
using graph::NodeIndex;

constexpr std::int64_t kTakeNs = 200'000;  // to take a batch from a worker, if nothing shows it
constexpr double kModelError = 0.05;

struct Batch {
  NodeIndex node;
  std::int64_t ns;
};

// Gives one rank other workers.
class Workers {
 public:
  Workers(Scenario& scenario,
          const LaneLookup& lookup,
          const RankLoads& of,
          std::int64_t workers,
          std::int64_t prefetch,
          Scenario::Structure& structure,
          std::vector<Batch>& batches)
      : scenario_(scenario),
        graph_(scenario.graph()),
        lookup_(lookup),
        of_(of),
        workers_(workers),
        prefetch_(prefetch),
        structure_(structure),
        batches_(batches) {}

  void change() {
    const double meanNs =
        loadingNs(scenario_, lookup_, of_) / static_cast<double>(of_.loads.size());
    std::vector<std::int64_t> batchNs;
    for (const Span& load : of_.loads)
      batchNs.push_back(
          std::llround(of_.feeders.empty() ? presentNs(scenario_, ownPartsOf(load)) : meanNs));
    if (!of_.feeders.empty()) {
      dropFeeders();
      scenario_.setting().loaders[of_.driver].clear();
    }
    if (workers_ == 0 && !of_.feeders.empty())
      for (std::size_t i = 0; i < of_.loads.size(); ++i)
        addOwn(of_.loads[i], batchNs[i]);
    if (workers_ == 0)
      return;
    if (of_.feeders.empty())
      for (const Span& load : of_.loads)
        setParts(scenario_, ownPartsOf(load), kTakeNs, Origin::Modelled);
    addBatches(batchNs);
  }

 private:
  // [first, last) of the driver's nodes that have a part of a load; at least the next one.
  std::pair<NodeIndex, NodeIndex> nodesOf(const Span& load) const {
    const auto [begin, end] = lookup_.rangeOf(of_.driver);
    NodeIndex first = lookup_.beginsFrom(of_.driver, load.beginNs);
    if (first > begin && graph_.endNs(first - 1) > load.beginNs)
      --first;
    // An instant may be the boundary of two iterations.
    while (first + 1 < end && graph_.durNs[first] == 0)
      ++first;
    NodeIndex last = std::min<NodeIndex>(first + 1, end);
    while (last < end && graph_.beginNs[last] < load.endNs)
      ++last;
    return {first, last};
  }

  std::vector<SelectedPart> ownPartsOf(const Span& load) const {
    return ownParts(graph_, lookup_, of_.driver, load);
  }

  void addOwn(const Span& load, std::int64_t ns) {
    const auto [first, last] = nodesOf(load);
    if (first < last)
      scenario_.extend(first, ns, Origin::Scaled);
  }

  // The driver no longer waits for its feeders.
  void dropFeeders() {
    const std::set<LaneIndex> feeders(of_.feeders.begin(), of_.feeders.end());
    const auto [first, last] = lookup_.rangeOf(of_.driver);
    for (NodeIndex node = first; node < last; ++node)
      for (std::uint32_t edge = graph_.firstIn[node]; edge < graph_.firstIn[node + 1]; ++edge)
        if (feeders.contains(graph_.lane[graph_.from[edge]])) {
          structure_.dropped.resize(graph_.edges(), false);
          structure_.dropped[edge] = true;
        }
  }

  // A worker loads every n-th batch. It is told to when the driver takes a batch from it.
  void addBatches(const std::vector<std::int64_t>& batchNs) {
    const auto workers = static_cast<std::size_t>(workers_);
    const std::vector<NodeIndex> nodes = addNodes(workers, batchNs);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i >= workers)
        structure_.edges.push_back({nodes[i - workers], nodes[i], EdgeKind::Order});
      const std::size_t ahead = static_cast<std::size_t>(prefetch_) * workers;
      if (i >= ahead)
        needTake(of_.loads[i - ahead], nodes[i]);
      const auto [first, last] = nodesOf(of_.loads[i]);
      if (first < last)
        structure_.edges.push_back({nodes[i], first, EdgeKind::Message});
    }
  }

  // Lane by lane, as LaneLookup needs them. Returns the nodes by batch.
  std::vector<NodeIndex> addNodes(std::size_t workers, const std::vector<std::int64_t>& batchNs) {
    std::vector<NodeIndex> nodes(batchNs.size());
    for (std::size_t worker = 0; worker < std::min(workers, nodes.size()); ++worker) {
      const auto lane = static_cast<LaneIndex>(graph_.lanes.size() + structure_.lanes.size());
      graph::Lane made = graph_.lanes[of_.driver];
      made.id = 0;
      made.name = fmt::format("loader worker {}", worker);
      made.background = graph::Background::Loads;
      structure_.lanes.push_back(std::move(made));
      scenario_.setting().loaders[of_.driver].push_back(lane);
      for (std::size_t i = worker; i < nodes.size(); i += workers) {
        nodes[i] = static_cast<NodeIndex>(graph_.nodes() + structure_.nodes.size());
        structure_.nodes.push_back({lane, of_.loads.front().beginNs});
        batches_.push_back({nodes[i], batchNs[i]});
      }
    }
    return nodes;
  }

  void needTake(const Span& load, NodeIndex batch) {
    const NodeIndex before = lookup_.endedBy(of_.driver, load.beginNs);
    if (before != kNoNode)
      structure_.edges.push_back(
          {before, batch, EdgeKind::Message, load.beginNs - graph_.endNs(before)});
  }

  Scenario& scenario_;
  const Graph& graph_;
  const LaneLookup& lookup_;
  const RankLoads& of_;
  std::int64_t workers_;
  std::int64_t prefetch_;
  Scenario::Structure& structure_;
  std::vector<Batch>& batches_;
};

// The workers of the question have processors of their own, which the machine may not have.
Result<void> noteFullProcessors(Asking& asking) {
  SONDE_TRY_ASSIGN(const auto ranks, metrics::readRanks(asking.trace));
  for (const metrics::RankProcess& rank : ranks) {
    SONDE_TRY_ASSIGN(const auto use,
                     counters::processorUse(asking.trace, rank.processId, rank.window));
    if (!use || !use->isFull())
      continue;
    asking.notes.push_back(
        fmt::format("the machine {} had no processor free for a worker, since {:.1f} of its {} "
                    "were busy: there "
                    "this brings less, or nothing",
                    use->host,
                    use->busy,
                    use->processors));
    return {};
  }
  return {};
}

}  // namespace

Question loaderWorkers(std::int64_t workers, std::int64_t prefetch) {
  return [workers, prefetch](Asking& asking) -> Result<void> {
    if (prefetch < 1)
      return Error{ErrorCode::InvalidArgument, "a worker is at least one batch ahead"};
    if (workers < 0 || workers > kMostWorkers)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("a rank has 0 to {} workers, not {}", kMostWorkers, workers)};
    Scenario& scenario = asking.scenario;
    const LaneLookup lookup(scenario.graph());
    SONDE_TRY_ASSIGN(const std::vector<RankLoads> ranks, readLoads(asking.trace, scenario, lookup));
    if (ranks.empty())
      return notFound(
          "the trace has no loads of data: slices of the kind 'data_load', as the PyTorch hooks "
          "and "
          "sonde.operation() record them");
    Scenario::Structure structure;
    std::vector<Batch> batches;
    for (const RankLoads& each : ranks)
      Workers(scenario, lookup, each, workers, prefetch, structure, batches).change();
    SONDE_TRY(scenario.restructure(structure));
    for (const Batch& each : batches)
      scenario.setNode(each.node, each.ns, Origin::Scaled);
    asking.modelError = std::max(asking.modelError, kModelError);
    if (workers == 0)
      return {};
    asking.notes.push_back(fmt::format(
        "each of the {} workers of a rank has a processor of its own, and loads up to {} batches "
        "ahead",
        workers,
        prefetch));
    return noteFullProcessors(asking);
  };
}

}  // namespace sonde::engine::whatif
