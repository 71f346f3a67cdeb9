#include "analysis/engine/whatif/compute/accumulation.h"

#include "analysis/engine/whatif/compute/micro_batches.h"
#include "analysis/engine/whatif/gradients/gradient_buckets.h"
#include "analysis/engine/whatif/gradients/reduction_calls.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/loads.h"
#include "analysis/engine/whatif/network/driver_times.h"
#include "analysis/engine/whatif/network/serial_transfers.h"
#include "analysis/engine/whatif/span_edits.h"
#include "analysis/engine/whatif/transfer_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {
namespace {

// The error of a backward pass's time on processors without reductions beside it.
constexpr double kBesideReductions = 0.1;

using graph::kNoNode;
using graph::LaneIndex;
using graph::NodeIndex;

// The calls for reductions on devices take no time.
Result<void> removeCalls(const store::Database& trace,
                         Scenario& scenario,
                         const std::vector<IterationBuckets>& iterations) {
  std::set<LaneIndex> streams;
  for (const IterationBuckets& iteration : iterations)
    for (const JobCollective* bucket : iteration.buckets)
      if (bucket->isOnDevice)
        for (const CollectivePart& part : bucket->parts)
          streams.insert(part.lane);
  if (streams.empty())
    return {};
  SONDE_TRY_ASSIGN(const ThreadSpans calls, readStreamCalls(trace, scenario.graph(), streams));
  const LaneLookup lookup(scenario.graph());
  for (LaneIndex lane = 0; lane < scenario.graph().lanes.size(); ++lane)
    for (const Span& call : calls.of(lane))
      scaleSpan(scenario, lookup, lane, call, 0, Origin::Measured);
  return {};
}

// When each micro-batch begins to reduce gradients on its process; the largest time: it does not.
std::vector<std::int64_t> firstReductions(const std::vector<IterationBuckets>& iterations,
                                          const MicroBatchLookup& lookup,
                                          std::size_t batches) {
  std::vector<std::int64_t> found(batches, std::numeric_limits<std::int64_t>::max());
  for (const IterationBuckets& iteration : iterations)
    for (const CollectivePart& part : iteration.buckets.front()->parts)
      if (const std::uint32_t batch = lookup.at(part.lane, part.beginNs); batch < batches)
        found[batch] = std::min(found[batch], part.beginNs);
  return found;
}

// The job if nobody reduced gradients, or anything after them, as losses; and hence no rank waited
// for another one there. Ends `batches` there.
Result<Scenario> withoutReductions(const store::Database& trace,
                                   const Scenario& now,
                                   std::vector<MicroBatch>& batches,
                                   const std::vector<JobCollective>& all) {
  Scenario silent = now;
  TransferEdits edits(silent);
  SONDE_TRY_ASSIGN(const std::vector<IterationBuckets> iterations,
                   bucketsOf(trace, silent.job(), all, edits));
  SONDE_TRY(checkMeasured(iterations, edits));
  endAtReductions(now.graph(), iterations, batches);
  SONDE_TRY(removeCalls(trace, silent, iterations));
  const MicroBatchLookup lookup(now.graph(), batches);
  const std::vector<std::int64_t> from = firstReductions(iterations, lookup, batches.size());
  for (const JobCollective& each : all)
    for (const CollectivePart& part : each.parts) {
      const std::uint32_t batch = lookup.at(part.lane, part.beginNs);
      if (batch == batches.size() || part.beginNs < from[batch] || edits.isReplaced(each))
        continue;
      JobCollective own = each;
      own.communicator += fmt::format(" of lane {}", part.lane);
      own.parts = {part};
      edits.set(own, 0, Origin::Measured);
    }
  SONDE_TRY(edits.apply());
  return silent;
}

// When a lane comes to a time of its measured life, in a replay.
class ReplayedTimes {
 public:
  explicit ReplayedTimes(const Scenario& scenario)
      : scenario_(scenario), lookup_(scenario.graph()), begin_(scenario.replay().beginNs) {}

  std::int64_t beginNs(NodeIndex node) const { return begin_[node]; }

  std::int64_t at(LaneIndex lane, std::int64_t ns) const {
    const auto [first, last] = lookup_.rangeOf(lane);
    NodeIndex node = lookup_.beginsFrom(lane, ns);
    if (node < last && scenario_.graph().beginNs[node] == ns)
      return begin_[node];
    if (node == first)
      return ns;
    --node;
    return begin_[node] +
           static_cast<std::int64_t>(scenario_.lengthNs(node, scenario_.graph().beginNs[node], ns));
  }

 private:
  const Scenario& scenario_;
  const LaneLookup lookup_;
  const std::vector<std::int64_t> begin_;
};

// The first node of an iteration that takes time. The instant of its begin may also be the end of
// the iteration before.
NodeIndex firstWork(const graph::Graph& graph, NodeIndex first) {
  NodeIndex node = first;
  while (node + 1 < graph.nodes() && graph.lane[node + 1] == graph.lane[first] &&
         graph.durNs[node] == 0)
    ++node;
  return node;
}

// A micro-batch's work on one stream.
struct StreamWork {
  NodeIndex first = kNoNode;
  std::int64_t ns = 0;
};

// By micro-batch and stream.
std::map<std::pair<std::uint32_t, LaneIndex>, StreamWork> byStream(const Scenario& scenario,
                                                                   const MicroWorks& works) {
  std::map<std::pair<std::uint32_t, LaneIndex>, StreamWork> found;
  for (const MicroWork& each : works.onDevices) {
    StreamWork& of = found[{each.batch, scenario.graph().lane[each.node]}];
    of.first = std::min(of.first, each.node);
    of.ns += scenario.durNs()[each.node];
  }
  return found;
}

// Streams do the work of the other micro-batches before that of the last one, from the begin of the
// iteration on.
Result<void> addStreamWork(Scenario& scenario,
                           const std::vector<MicroBatch>& batches,
                           const MicroWorks& works,
                           std::int64_t times) {
  const graph::Graph& graph = scenario.graph();
  const auto streams = byStream(scenario, works);
  Scenario::Structure structure;
  std::vector<std::int64_t> durNs;
  std::map<LaneIndex, LaneIndex> added;  // by stream
  const auto firstNew = static_cast<NodeIndex>(graph.nodes());
  for (const auto& [key, work] : streams) {
    const auto& [batch, lane] = key;
    const graph::IterationNodes& iteration = scenario.job().iterations[batches[batch].iteration];
    const auto node = static_cast<NodeIndex>(firstNew + durNs.size());
    const auto next = static_cast<LaneIndex>(graph.lanes.size() + structure.lanes.size());
    const auto [own, isNew] = added.emplace(lane, next);
    if (isNew)
      structure.lanes.push_back(graph.lanes[lane]);
    structure.nodes.push_back({own->second, graph.beginNs[iteration.first]});
    durNs.push_back(times * work.ns);
    const auto isBefore = [&](NodeIndex of) {
      return of > 0 && graph.lane[of - 1] == graph.lane[of];
    };
    if (isBefore(iteration.first))
      structure.edges.push_back({iteration.first - 1, node, graph::EdgeKind::Launch});
    if (isBefore(work.first))
      structure.edges.push_back({work.first - 1, node, graph::EdgeKind::Order});
    structure.edges.push_back({node, work.first, graph::EdgeKind::Order});
  }
  SONDE_TRY(scenario.restructure(structure));
  for (std::size_t i = 0; i < durNs.size(); ++i)
    scenario.setNode(static_cast<NodeIndex>(firstNew + i), durNs[i], Origin::Scaled);
  return {};
}

// Workers of loaders load for all micro-batches.
Result<void> scaleFeeders(const store::Database& trace, Scenario& scenario, double factor) {
  const LaneLookup lookup(scenario.graph());
  SONDE_TRY_ASSIGN(const std::vector<RankLoads> loads, readLoads(trace, scenario.job(), lookup));
  for (const RankLoads& each : loads)
    for (const LaneIndex lane : each.feeders)
      scaleLane(scenario, lookup, lane, factor, Origin::Scaled);
  return {};
}

}  // namespace

Question accumulation(std::int64_t factor) {
  return [factor](Asking& asking) -> Result<void> {
    if (factor < 1)
      return Error{ErrorCode::InvalidArgument, "an iteration has at least one micro-batch"};
    Scenario& scenario = asking.scenario;
    SONDE_TRY_ASSIGN(std::vector<MicroBatch> batches,
                     readMicroBatches(asking.trace, scenario.job()));
    SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                     readCollectives(asking.trace, scenario.job()));
    SONDE_TRY_ASSIGN(const Scenario silent,
                     withoutReductions(asking.trace, scenario, batches, all));
    SONDE_TRY_ASSIGN(const MicroWorks works, readWorks(asking.trace, scenario.job(), all, batches));
    const ReplayedTimes times(silent);
    const bool isOnDevices = !works.onDevices.empty();
    std::map<graph::LaneIndex, DriverTimes> drivers;
    if (!isOnDevices) {
      SONDE_TRY_ASSIGN(drivers, readDriverTimes(asking.trace, scenario.job()));
      asking.modelError = std::max(asking.modelError, kBesideReductions);
    }
    for (const MicroBatch& each : batches) {
      const NodeIndex first = scenario.job().iterations[each.iteration].first;
      const auto busyNs =
          static_cast<double>(times.at(each.driver, each.computedBy()) - times.beginNs(first));
      const std::int64_t ns = std::llround(busyNs * (1 - drivers[each.driver].stolenShare()));
      scenario.extend(firstWork(scenario.graph(), first),
                      (factor - 1) * std::max<std::int64_t>(ns, 0),
                      isOnDevices ? Origin::Scaled : Origin::Modelled);
    }
    SONDE_TRY(addStreamWork(scenario, batches, works, factor - 1));
    SONDE_TRY(scaleFeeders(asking.trace, scenario, static_cast<double>(factor)));
    if (!isOnDevices)
      asking.afterwards.emplace_back(serialiseTransfers);
    asking.notes.push_back(fmt::format(
        "an iteration then has {} times as many samples: {} micro-batches, of which only the last "
        "one reduces gradients, as in DistributedDataParallel's no_sync()",
        factor,
        factor));
    return {};
  };
}

}  // namespace sonde::engine::whatif
