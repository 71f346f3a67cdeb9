#include "analysis/engine/whatif/compute/next_forward.h"

#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/whatif/compute/passes.h"
#include "analysis/engine/whatif/gradients/gradient_buckets.h"
#include "analysis/engine/whatif/gradients/rebucketing.h"
#include "analysis/engine/whatif/network/networks.h"
#include "analysis/engine/whatif/transfer_edits.h"

#include <queue>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace sonde::engine::whatif {
namespace {

using graph::LaneIndex;
using graph::NodeIndex;

// The kernels of a pass or an optimizer step, by begin.
struct Kernels {
  std::vector<NodeIndex> nodes;
  double ns = 0;
};
// By iteration (an index of jobIterations()) and process.
using KernelsAt = std::map<std::pair<std::uint32_t, std::int64_t>, Kernels>;

class Forwarding {
 public:
  Forwarding(Asking& asking, const std::vector<JobCollective>& all, NextForward of)
      : asking_(asking),
        scenario_(asking.scenario),
        all_(all),
        of_(of),
        iterations_(graph::jobIterations(scenario_.job())),
        windows_(scenario_.graph(), iterations_),
        edits_(scenario_) {}

  Result<void> run() {
    SONDE_TRY_ASSIGN(const std::vector<IterationBuckets> buckets,
                     bucketsOf(asking_.trace, scenario_.job(), all_, edits_));
    if (buckets.empty())
      return notFound(kNoBuckets);
    SONDE_TRY(checkMeasured(buckets, edits_));
    if (!buckets.front().buckets.front()->isOnDevice)
      return notFound(
          "the gradients of the trace are reduced on processors: Sonde knows the layers of a "
          "forward pass by its kernels, and the trace has none");
    const JobCollective& any = *buckets.front().buckets.front();
    const Networks networks(scenario_, all_, asking_.models.collectives);
    const NetworkModel* model = networks.find(any.communicator, any.op);
    if (model == nullptr)
      return notFound("the trace has too few collectives to tell how fast the network is");
    if (of_.pieceBytes)
      SONDE_TRY(checkCuts(buckets, *of_.pieceBytes));
    SONDE_TRY(readKernels());
    for (const IterationBuckets& each : buckets)
      reduce(each, *model);
    dropWaits();
    SONDE_TRY(edits_.apply());
    moveOptimizers();
    addNotes(*model, buckets.front());
    return {};
  }

 private:
  const graph::Graph& graph() const { return scenario_.graph(); }

  void add(KernelsAt& to, const MicroWork& work, std::uint32_t iteration) {
    Kernels& of = to[{iteration, graph().lanes[graph().lane[work.node]].processId}];
    of.nodes.push_back(work.node);
    of.ns += static_cast<double>(scenario_.durNs()[work.node]);
  }

  void sort(KernelsAt& all) {
    for (auto& [place, of] : all)
      std::sort(of.nodes.begin(), of.nodes.end(), [&](NodeIndex a, NodeIndex b) {
        return graph().beginNs[a] < graph().beginNs[b];
      });
  }

  // The forward pass of the first one of several micro-batches waits.
  Result<void> readKernels() {
    SONDE_TRY_ASSIGN(Passes passes, readPasses(asking_.trace, scenario_.job()));
    std::set<std::pair<std::uint32_t, LaneIndex>> seen;
    std::erase_if(passes.forward, [&](const MicroBatch& each) {
      return !seen.emplace(each.iteration, each.driver).second;
    });
    SONDE_TRY_ASSIGN(const MicroWorks forward,
                     readWorks(asking_.trace, scenario_.job(), all_, passes.forward));
    for (const MicroWork& each : forward.onDevices)
      add(forward_, each, passes.forward[each.batch].iteration);
    SONDE_TRY_ASSIGN(std::vector<MicroBatch> steps,
                     readMicroBatches(asking_.trace, scenario_.job()));
    for (MicroBatch& each : steps)
      each.span = each.optimizer;
    std::erase_if(steps,
                  [](const MicroBatch& each) { return each.span.endNs <= each.span.beginNs; });
    SONDE_TRY_ASSIGN(const MicroWorks optimizer,
                     readWorks(asking_.trace, scenario_.job(), all_, steps));
    for (const MicroWork& each : optimizer.onDevices)
      add(optimizer_,
          each,
          windows_.at(graph().lanes[steps[each.batch].driver], steps[each.batch].span.beginNs));
    sort(forward_);
    if (optimizer_.empty() || forward_.empty())
      return notFound("the trace shows no kernels of forward passes and optimizers");
    return {};
  }

  // The pieces of an iteration's buckets, by bucket.
  std::vector<PieceToReduce> piecesOf(const IterationBuckets& iteration,
                                      const NetworkModel& model,
                                      std::vector<std::int64_t>& sizes) const {
    std::vector<PieceToReduce> pieces;
    std::int64_t bytes = 0;
    for (std::size_t bucket = 0; bucket < iteration.buckets.size(); ++bucket) {
      const JobCollective& of = *iteration.buckets[bucket];
      bytes += of.bytes;
      std::int64_t readyNs = std::numeric_limits<std::int64_t>::min();
      for (const std::vector<ReadyPoint>& points : iteration.ready)
        readyNs = std::max(readyNs, readyAt(points, bytes).ns);
      for (const std::int64_t size : cutAt(of.bytes, of_.pieceBytes.value_or(of.bytes))) {
        sizes.push_back(size);
        pieces.push_back({bucket, readyNs, model.ns(costOf(of.op, size, of.ranks))});
      }
    }
    return pieces;
  }

  void reduce(const IterationBuckets& iteration, const NetworkModel& model) {
    std::vector<std::int64_t> sizes;
    const std::vector<PieceToReduce> pieces = piecesOf(iteration, model, sizes);
    std::vector<std::int64_t> upTo;  // bytes of the buckets up to each
    for (const JobCollective* each : iteration.buckets)
      upTo.push_back((upTo.empty() ? 0 : upTo.back()) + each->bytes);
    std::vector<NodeIndex> last(iteration.buckets.size());
    for (const std::size_t i : priorityOrder(pieces)) {
      const PieceToReduce& piece = pieces[i];
      const NodeIndex transfer =
          edits_.add(*iteration.buckets[piece.bucket], sizes[i], piece.ns, Origin::Modelled);
      for (const std::vector<ReadyPoint>& points : iteration.ready) {
        const ReadyPoint ready = readyAt(points, upTo[piece.bucket]);
        edits_.needs(transfer, ready.lane, ready.ns);
      }
      last[piece.bucket] = transfer;
    }
    for (std::size_t bucket = 0; bucket < last.size(); ++bucket)
      for (const CollectivePart& part : iteration.buckets[bucket]->parts) {
        edits_.replace(*iteration.buckets[bucket], part, last[bucket]);
        const double before =
            1 - static_cast<double>(upTo[bucket]) / static_cast<double>(upTo.back());
        delayForward(part, last[bucket], before);
      }
  }

  // The next forward pass needs a bucket when it has done this part of its work.
  void delayForward(const CollectivePart& part, NodeIndex transfer, double before) {
    const graph::Lane& lane = graph().lanes[part.lane];
    const std::uint32_t iteration = windows_.at(lane, part.beginNs);
    lanes_.insert(part.lane);
    if (iteration == replay::kNoIteration)
      return;
    const auto next = forward_.find({iteration + 1, lane.processId});
    if (next == forward_.end())
      return;
    constexpr double kRounding = 1e-3;
    double done = 0;
    for (const NodeIndex node : next->second.nodes) {
      if (done / next->second.ns >= before - kRounding) {
        edits_.delays(transfer, node);
        return;
      }
      done += static_cast<double>(scenario_.durNs()[node]);
    }
  }

  // Other streams no longer wait for reductions.
  void dropWaits() {
    for (NodeIndex node = 0; node < graph().nodes(); ++node)
      for (std::uint32_t edge = graph().firstIn[node]; edge < graph().firstIn[node + 1]; ++edge)
        if (graph().edgeKind[edge] == graph::EdgeKind::StreamWait &&
            lanes_.contains(graph().lane[graph().from[edge]]) &&
            !lanes_.contains(graph().lane[node]))
          edits_.drop(edge);
  }

  // A layer's optimizer runs before its forward: the kernels of the next forward pass take its time
  // in proportion.
  void moveOptimizers() {
    for (const auto& [place, optimizer] : optimizer_) {
      for (const NodeIndex node : optimizer.nodes)
        scenario_.setNode(node, 0, Origin::Scaled);
      const auto next = forward_.find({place.first + 1, place.second});
      if (next == forward_.end() || next->second.ns <= 0)
        continue;
      for (const NodeIndex node : next->second.nodes)
        scenario_.scale(node,
                        graph().beginNs[node],
                        graph().endNs(node),
                        1 + optimizer.ns / next->second.ns,
                        Origin::Scaled);
    }
  }

  void addNotes(const NetworkModel& model, const IterationBuckets& iteration) {
    asking_.modelError = std::max(asking_.modelError, model.error);
    asking_.notes.push_back(fmt::format(
        "each of {} buckets is reduced until the next forward pass needs it, the first layers' one "
        "first; a layer's optimizer runs before its forward. This assumes that gradients, the "
        "optimizer and the forward pass are in proportion, and that no clipping of gradients needs "
        "all of them",
        iteration.buckets.size()));
  }

  Asking& asking_;
  Scenario& scenario_;
  const std::vector<JobCollective>& all_;
  const NextForward of_;
  const std::vector<graph::JobIteration> iterations_;
  const replay::IterationWindows windows_;
  TransferEdits edits_;
  KernelsAt forward_;
  KernelsAt optimizer_;
  std::set<LaneIndex> lanes_;  // streams that reduce
};

}  // namespace

std::vector<std::size_t> priorityOrder(const std::vector<PieceToReduce>& pieces) {
  std::vector<std::size_t> byReady(pieces.size());
  std::iota(byReady.begin(), byReady.end(), 0);
  std::stable_sort(byReady.begin(), byReady.end(), [&](std::size_t a, std::size_t b) {
    return pieces[a].readyNs < pieces[b].readyNs;
  });
  const auto isLater = [&](std::size_t a, std::size_t b) {
    return pieces[a].bucket != pieces[b].bucket ? pieces[a].bucket < pieces[b].bucket : a > b;
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(isLater)> ready(isLater);
  std::vector<std::size_t> order;
  double now = -std::numeric_limits<double>::infinity();
  for (auto next = byReady.begin(); order.size() < pieces.size();) {
    if (ready.empty())
      now = std::max(now, static_cast<double>(pieces[*next].readyNs));
    for (; next != byReady.end() && static_cast<double>(pieces[*next].readyNs) <= now; ++next)
      ready.push(*next);
    order.push_back(ready.top());
    now += pieces[ready.top()].ns;
    ready.pop();
  }
  return order;
}

Question nextForward(NextForward of) {
  return [of](Asking& asking) -> Result<void> {
    if (of.pieceBytes && *of.pieceBytes < 1)
      return Error{ErrorCode::InvalidArgument, "a piece has at least one byte"};
    SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                     readCollectives(asking.trace, asking.scenario.job()));
    return Forwarding(asking, all, of).run();
  };
}

}  // namespace sonde::engine::whatif
