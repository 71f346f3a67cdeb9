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

// Nobody waits for the workers of loaders.
Result<void> removeFeeders(const store::Database& trace, Scenario& scenario) {
  const LaneLookup lookup(scenario.graph());
  SONDE_TRY_ASSIGN(const std::vector<RankLoads> ranks, readLoads(trace, scenario, lookup));
  for (const RankLoads& each : ranks)
    for (const LaneIndex lane : each.feeders)
      scaleLane(scenario, lookup, lane, 0, Origin::Measured);
  return {};
}

// The job if nobody reduced gradients, or anything after them, as losses; and hence no rank waited
// for another one there. Nor does it wait for its loader. Ends `batches` there.
Result<Scenario> withoutReductions(const store::Database& trace,
                                   const Scenario& now,
                                   std::vector<MicroBatch>& batches,
                                   const std::vector<JobCollective>& all) {
  Scenario silent = now;
  SONDE_TRY(removeFeeders(trace, silent));
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

// By stream and micro-batch, so that new nodes come lane by lane.
std::map<std::pair<LaneIndex, std::uint32_t>, StreamWork> byStream(const Scenario& scenario,
                                                                   const MicroWorks& works) {
  std::map<std::pair<LaneIndex, std::uint32_t>, StreamWork> found;
  for (const MicroWork& each : works.onDevices) {
    StreamWork& of = found[{scenario.graph().lane[each.node], each.batch}];
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
    const auto& [lane, batch] = key;
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

// A load is that of all micro-batches, by the rank or by its workers. Returns how long the rank
// itself loaded for each of `batches` before.
Result<std::vector<double>> scaleLoads(const store::Database& trace,
                                       Scenario& scenario,
                                       const std::vector<MicroBatch>& batches,
                                       double factor) {
  const LaneLookup lookup(scenario.graph());
  const MicroBatchLookup at(scenario.graph(), batches);
  SONDE_TRY_ASSIGN(const std::vector<RankLoads> ranks, readLoads(trace, scenario, lookup));
  std::vector<double> ownNs(batches.size());
  for (const RankLoads& each : ranks) {
    for (const LaneIndex lane : each.feeders)
      scaleLane(scenario, lookup, lane, factor, Origin::Scaled);
    if (!each.feeders.empty())
      continue;
    for (const Span& load : each.loads) {
      const std::uint32_t batch = at.at(each.driver, load.beginNs);
      if (batch == batches.size() || batches[batch].driver != each.driver ||
          load.endNs > batches[batch].computedBy())
        continue;
      ownNs[batch] += presentNs(scenario, ownParts(scenario.graph(), lookup, each.driver, load));
      scaleSpan(scenario, lookup, each.driver, load, factor, Origin::Scaled);
    }
  }
  return ownNs;
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
    SONDE_TRY_ASSIGN(const std::vector<double> loadNs,
                     scaleLoads(asking.trace, scenario, batches, static_cast<double>(factor)));
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const MicroBatch& each = batches[i];
      const NodeIndex first = scenario.job().iterations[each.iteration].first;
      const auto busyNs =
          static_cast<double>(times.at(each.driver, each.computedBy()) - times.beginNs(first));
      const std::int64_t ns =
          std::llround(busyNs * (1 - drivers[each.driver].stolenShare()) - loadNs[i]);
      scenario.extend(firstWork(scenario.graph(), first),
                      (factor - 1) * std::max<std::int64_t>(ns, 0),
                      isOnDevices ? Origin::Scaled : Origin::Modelled);
    }
    SONDE_TRY(addStreamWork(scenario, batches, works, factor - 1));
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
