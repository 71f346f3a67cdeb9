#include "analysis/engine/whatif/compute/micro_batches.h"

#include "analysis/engine/whatif/job_lanes.h"
#include "analysis/engine/whatif/lane_lookup.h"
#include "analysis/engine/whatif/launches.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace sonde::engine::whatif {
namespace {

using graph::Graph;
using graph::LaneIndex;
using graph::NodeIndex;

struct StageRow {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  bool isOptimizer = false;

  SONDE_COLUMNS(threadId, startNs, durNs, isOptimizer)
};

// Optimizers and backward passes.
constexpr const char* kStages =
    "SELECT s.thread_id, s.start_ns, s.dur_ns, s.kind = 'optimizer' OR lower(n.text) GLOB "
    "'*optimi[sz]er*' AS is_optimizer FROM slice s JOIN string n ON n.id = s.name_id WHERE "
    "s.dur_ns >= 0 AND (s.kind IN ('optimizer', 'backward') OR (s.kind IN ('phase', 'operation', "
    "'range', 'operator') AND (n.text = 'backward' OR lower(n.text) GLOB '*optimi[sz]er*')))";

struct KernelRow {
  std::int64_t kernelId = 0;

  SONDE_COLUMNS(kernelId)
};

using Spans = std::map<LaneIndex, std::vector<Span>>;

void sortByBegin(Spans& spans) {
  for (auto& [lane, of] : spans)
    std::sort(
        of.begin(), of.end(), [](const Span& a, const Span& b) { return a.beginNs < b.beginNs; });
}

// The first span that begins in [beginNs, endNs), or the last one; nullptr: none does.
const Span* spanIn(const Spans& spans, LaneIndex lane, const Span& in, bool isLast) {
  const auto of = spans.find(lane);
  if (of == spans.end())
    return nullptr;
  const auto from = [&](std::int64_t ns) {
    return std::lower_bound(
        of->second.begin(), of->second.end(), ns, [](const Span& each, std::int64_t at) {
          return each.beginNs < at;
        });
  };
  const auto first = from(in.beginNs);
  const auto end = from(in.endNs);
  if (first == end)
    return nullptr;
  return isLast ? &*(end - 1) : &*first;
}

// The stretches of `part` that are in none of `calls`, which are by begin and disjoint.
std::vector<Span> without(const Span& part, const std::vector<Span>& calls) {
  std::vector<Span> left;
  std::int64_t from = part.beginNs;
  auto call = std::lower_bound(
      calls.begin(), calls.end(), part.beginNs, [](const Span& each, std::int64_t ns) {
        return each.endNs <= ns;
      });
  for (; call != calls.end() && call->beginNs < part.endNs; ++call) {
    if (call->beginNs > from)
      left.push_back({from, call->beginNs});
    from = std::max(from, call->endNs);
  }
  if (from < part.endNs)
    left.push_back({from, part.endNs});
  return left;
}

void addThreads(const Graph& graph,
                const std::vector<JobCollective>& collectives,
                const std::vector<MicroBatch>& batches,
                const MicroBatchLookup& lookup,
                std::vector<MicroWork>& found) {
  ThreadSpans calls;
  for (const JobCollective& each : collectives)
    if (!each.isOnDevice)
      for (const CollectivePart& part : each.parts)
        calls.add(part.lane, {part.beginNs, part.endNs});
  calls.join();
  const LaneLookup lanes(graph);
  for (LaneIndex lane = 0; lane < graph.lanes.size(); ++lane) {
    const graph::Lane& of = graph.lanes[lane];
    if (of.kind != graph::LaneKind::Thread || of.background != graph::Background::Computes)
      continue;
    const auto [first, last] = lanes.rangeOf(lane);
    NodeIndex node = first;
    for (const std::uint32_t batch : lookup.of(lane)) {
      Span span = batches[batch].span;
      if (lane == batches[batch].driver)
        span.endNs = batches[batch].computedBy();
      while (node < last && graph.endNs(node) <= span.beginNs)
        ++node;
      for (NodeIndex at = node; at < last && graph.beginNs[at] < span.endNs; ++at) {
        const Span part{std::max(graph.beginNs[at], span.beginNs),
                        std::min(graph.endNs(at), span.endNs)};
        if (part.beginNs < part.endNs && graph.row[at] == 0)
          for (const Span& each : without(part, calls.of(lane)))
            found.push_back({batch, at, each});
      }
    }
  }
}

Result<void> addDeviceWork(const store::Database& trace,
                           const Graph& graph,
                           const MicroBatchLookup& lookup,
                           std::size_t batches,
                           std::vector<MicroWork>& found) {
  std::unordered_map<std::int64_t, NodeIndex> kernels;
  std::unordered_map<std::int64_t, NodeIndex> copies;
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (graph.lanes[graph.lane[node]].kind == graph::LaneKind::Stream && graph.row[node] != 0)
      (graph.kind[node] == graph::NodeKind::Copy ? copies : kernels).emplace(graph.row[node], node);
  SONDE_TRY(
      store::forEach<KernelRow>(trace,
                                "SELECT kernel_id FROM collective WHERE kernel_id IS NOT NULL",
                                [&](const KernelRow& row) { kernels.erase(row.kernelId); }));
  return forEachLaunch(trace, graph, [&](const Launched& each) {
    const auto& nodes = each.isCopy ? copies : kernels;
    const auto node = nodes.find(each.row);
    const std::uint32_t batch = lookup.at(each.thread, each.call.beginNs);
    if (node != nodes.end() && batch < batches && graph.durNs[node->second] > 0)
      found.push_back(
          {batch, node->second, {graph.beginNs[node->second], graph.endNs(node->second)}});
  });
}

}  // namespace

void endAtReductions(const Graph& graph,
                     const std::vector<IterationBuckets>& iterations,
                     std::vector<MicroBatch>& batches) {
  const MicroBatchLookup lookup(graph, batches);
  for (const IterationBuckets& iteration : iterations)
    for (const std::vector<ReadyPoint>& points : iteration.ready) {
      const ReadyPoint& last = points.back();
      const std::uint32_t batch = lookup.at(last.lane, last.ns);
      if (batch < batches.size() && batches[batch].driver == last.lane)
        batches[batch].computedNs = std::min(batches[batch].computedBy(), last.ns);
    }
}

MicroBatchLookup::MicroBatchLookup(const Graph& graph, const std::vector<MicroBatch>& batches)
    : graph_(graph), batches_(batches) {
  for (std::uint32_t i = 0; i < batches.size(); ++i)
    ofProcesses_[graph.lanes[batches[i].driver].processId].push_back(i);
  for (auto& [process, of] : ofProcesses_)
    std::sort(of.begin(), of.end(), [&](std::uint32_t a, std::uint32_t b) {
      return batches[a].span.beginNs < batches[b].span.beginNs;
    });
}

const std::vector<std::uint32_t>& MicroBatchLookup::of(LaneIndex lane) const {
  static const std::vector<std::uint32_t> kNone;
  const auto found = ofProcesses_.find(graph_.lanes[lane].processId);
  return found == ofProcesses_.end() ? kNone : found->second;
}

std::uint32_t MicroBatchLookup::at(LaneIndex lane, std::int64_t ns) const {
  const std::vector<std::uint32_t>& all = of(lane);
  const auto after =
      std::upper_bound(all.begin(), all.end(), ns, [&](std::int64_t at, std::uint32_t each) {
        return at < batches_[each].span.beginNs;
      });
  const bool isIn = after != all.begin() && ns < batches_[*(after - 1)].span.endNs;
  return isIn ? *(after - 1) : static_cast<std::uint32_t>(batches_.size());
}

Result<std::vector<MicroBatch>> readMicroBatches(const store::Database& trace,
                                                 const graph::TraceGraph& job) {
  SONDE_TRY_ASSIGN(const JobLanes lanes, JobLanes::read(trace, job.graph));
  const std::set<LaneIndex> drivers = driversOf(job);
  Spans optimizers;
  Spans backwards;
  SONDE_TRY(store::forEach<StageRow>(trace, kStages, [&](const StageRow& row) {
    const auto stage = lanes.ofThread(row);
    if (stage && drivers.contains(stage->lane))
      (row.isOptimizer ? optimizers : backwards)[stage->lane].push_back(stage->span);
  }));
  sortByBegin(optimizers);
  sortByBegin(backwards);
  std::vector<MicroBatch> found;
  for (std::uint32_t i = 0; i < job.iterations.size(); ++i) {
    const graph::IterationNodes& each = job.iterations[i];
    const LaneIndex lane = job.graph.lane[each.first];
    const Span whole{job.graph.beginNs[each.first], job.graph.endNs(each.last)};
    const Span* backward = spanIn(backwards, lane, whole, true);
    // A slice with an optimizer's name may also clear gradients before the forward pass.
    const Span* optimizer =
        spanIn(optimizers,
               lane,
               {backward == nullptr ? whole.beginNs : backward->beginNs, whole.endNs},
               false);
    if (optimizer != nullptr)
      found.push_back({i, lane, {whole.beginNs, optimizer->beginNs}, *optimizer});
    else if (backward != nullptr)
      found.push_back({i, lane, {whole.beginNs, std::min(backward->endNs, whole.endNs)}, {}});
  }
  if (found.empty())
    return notFound(
        "the trace does not show where the optimizer of an iteration begins: it needs recorded "
        "iterations with slices of the kind 'optimizer' or 'backward', as the PyTorch hooks and "
        "sonde.operation() record them");
  return found;
}

Result<ThreadSpans> optimizerSpans(const store::Database& trace, const graph::TraceGraph& job) {
  ThreadSpans found;
  const auto batches = readMicroBatches(trace, job);
  if (!batches && batches.error().code != ErrorCode::NotFound)
    return batches.error();
  if (batches)
    for (const MicroBatch& each : *batches)
      found.add(each.driver, each.optimizer);
  found.join();
  return found;
}

Result<MicroWorks> readWorks(const store::Database& trace,
                             const graph::TraceGraph& job,
                             const std::vector<JobCollective>& collectives,
                             const std::vector<MicroBatch>& batches) {
  const MicroBatchLookup lookup(job.graph, batches);
  MicroWorks found;
  addThreads(job.graph, collectives, batches, lookup, found.onThreads);
  SONDE_TRY(addDeviceWork(trace, job.graph, lookup, batches.size(), found.onDevices));
  return found;
}

}  // namespace sonde::engine::whatif
