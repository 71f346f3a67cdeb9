#include "analysis/engine/pipeline/degrees.h"

#include "analysis/engine/operations/operation_graph.h"
#include "analysis/engine/pipeline/parallel_groups.h"
#include "analysis/engine/whatif/network/network_model.h"
#include "analysis/engine/whatif/transfer_edits.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace sonde::engine::pipeline {
namespace {

using graph::NodeIndex;
using whatif::Asking;
using whatif::CollectiveCost;
using whatif::JobCollective;
using whatif::NetworkModel;
using whatif::Origin;
using whatif::Scenario;

// The time of a step without data, where collectives of one size do not tell it.
constexpr double kAssumedStepNs = 5'000;

// The error of work that is taken to be in proportion to a degree, as a part of its change.
constexpr double kProportion = 0.1;

double errorOfChange(double factor) {
  return kProportion * std::abs(factor - 1) / std::max(factor, 1.0);
}

struct KernelId {
  std::int64_t id = 0;

  SONDE_COLUMNS(id)
};

// How much the time of a collective changes, and by how much that may be wrong, as fractions.
struct Ratio {
  double value = 1;
  double error = 0;
};

Ratio ratioOf(const NetworkModel& fitted, const CollectiveCost& now, const CollectiveCost& then) {
  const double total = fitted.ns(now);
  if (total <= 0)
    return {};
  if (fitted.sizes > 1)
    return {fitted.ns(then) / total, fitted.error};
  const double steps = then.steps / now.steps;
  const double bytes = then.bytes / now.bytes;
  const double share = std::min(kAssumedStepNs * now.steps / total, 0.5);
  const double value = share * steps + (1 - share) * bytes;
  return {value, value > 0 ? share * std::abs(steps - bytes) / value : 0};
}

// Gives collectives the time that they have with other numbers of ranks and bytes.
class CollectiveEdits {
 public:
  CollectiveEdits(Scenario& scenario, const ParallelGroups& groups)
      : scenario_(scenario),
        groups_(groups),
        models_(whatif::fitNetworks(groups.all)),
        edits_(scenario) {}

  void set(const ParallelGroup& group, std::int64_t ranks, double size) {
    for (const std::size_t index : group.collectives)
      changed_.emplace(index, Change{ranks, size});
  }

  // Returns the mean error of the new times.
  Result<double> apply() {
    double sum = 0;
    double wrong = 0;
    for (const auto& [index, change] : changed_) {
      const JobCollective& each = groups_.all[index];
      const CollectiveCost now = whatif::costOf(each.op, each.bytes, each.ranks);
      const auto bytes = static_cast<std::int64_t>(static_cast<double>(each.bytes) * change.size);
      const CollectiveCost then = whatif::costOf(each.op, bytes, change.ranks);
      const auto model = models_.find(each.communicator);
      if (model == models_.end())
        continue;
      const Ratio ratio = ratioOf(model->second, now, then);
      const double ns = presentNs(each, model->second.ns(now)) * ratio.value;
      edits_.set(each, ns, Origin::Modelled);
      for (auto i = static_cast<std::size_t>(change.ranks);
           each.isOnDevice && i < each.parts.size();
           ++i)
        gone_.insert(edits_.lookup().beginsFrom(each.parts[i].lane, each.parts[i].beginNs));
      sum += ns;
      wrong += ns * ratio.error;
    }
    SONDE_TRY(edits_.apply());
    SONDE_TRY(leaveOut());
    return sum > 0 ? wrong / sum : 0;
  }

 private:
  struct Change {
    std::int64_t ranks = 1;
    double size = 1;
  };

  // On a device the time of its transfer. Calls on threads queue for the network, so they take the
  // time of the model.
  double presentNs(const JobCollective& each, double modelNs) const {
    double most = 0;
    bool isKnown = false;
    for (const whatif::CollectivePart& part : each.parts)
      if (const NodeIndex node = edits_.transferOf(part);
          each.isOnDevice && node != graph::kNoNode) {
        most = std::max(most, static_cast<double>(scenario_.durNs()[node]));
        isKnown = true;
      }
    return isKnown ? most : modelNs;
  }

  // Nobody waits any longer for ranks that the groups no longer have. They have no work of their
  // own, so that their iterations are as long as those of the others.
  Result<void> leaveOut() {
    if (gone_.empty())
      return {};
    const graph::Graph& graph = scenario_.graph();
    std::set<std::int64_t> ranks;
    for (const NodeIndex node : gone_)
      ranks.insert(graph.lanes[graph.lane[node]].rank);
    for (NodeIndex node = 0; node < graph.nodes(); ++node)
      if (graph.kind[node] == graph::NodeKind::Kernel &&
          ranks.contains(graph.lanes[graph.lane[node]].rank))
        scenario_.setNode(node, 0, Origin::Scaled);
    Scenario::Structure structure;
    structure.dropped.assign(graph.edges(), false);
    for (std::uint32_t edge = 0; edge < graph.edges(); ++edge)
      structure.dropped[edge] =
          graph.edgeKind[edge] == graph::EdgeKind::Arrival && gone_.contains(graph.from[edge]);
    return scenario_.restructure(structure);
  }

  Scenario& scenario_;
  const ParallelGroups& groups_;
  std::map<std::string, NetworkModel> models_;
  whatif::TransferEdits edits_;
  std::map<std::size_t, Change> changed_;  // by collective
  std::set<NodeIndex> gone_;               // kernels of collectives on devices
};

Result<void> scaleKernels(Asking& asking, double factor) {
  const graph::Graph& graph = asking.scenario.graph();
  std::set<std::int64_t> collectives;
  SONDE_TRY(
      store::forEach<KernelId>(asking.trace,
                               "SELECT kernel_id AS id FROM collective WHERE kernel_id IS NOT NULL",
                               [&](const KernelId& row) { collectives.insert(row.id); }));
  bool hasKernels = false;
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (graph.kind[node] == graph::NodeKind::Kernel && !collectives.contains(graph.row[node])) {
      asking.scenario.scale(node, graph.beginNs[node], graph.endNs(node), factor, Origin::Modelled);
      hasKernels = true;
    }
  if (!hasKernels)
    return notFound(
        "the tensor-parallel degree divides the kernels of devices: the trace has no kernels");
  asking.modelError = std::max(asking.modelError, errorOfChange(factor));
  return {};
}

Result<void> changeGroups(Asking& asking, const Degrees& of) {
  SONDE_TRY_ASSIGN(const ParallelGroups groups, readGroups(asking.trace, asking.scenario.job()));
  if (of.tensor && groups.tensor.ranks < 2)
    return notFound(
        "the trace has no collectives between tensor-parallel ranks, so their sizes are unknown: "
        "they need communicators of neighbouring ranks, and others from one such group to the "
        "next");
  if (of.data && groups.data.ranks < 2)
    return notFound(
        "the trace has no collectives between data-parallel ranks, so the sizes of gradients are "
        "unknown");
  const std::int64_t tensor = of.tensor.value_or(groups.tensor.ranks);
  const std::int64_t data = of.data.value_or(groups.data.ranks);
  const double share = static_cast<double>(groups.tensor.ranks) / static_cast<double>(tensor);
  CollectiveEdits edits(asking.scenario, groups);
  if (of.tensor)
    edits.set(groups.tensor, tensor, 1);
  edits.set(groups.data, data, share);
  SONDE_TRY_ASSIGN(const double error, edits.apply());
  asking.modelError = std::max(asking.modelError, error);
  if (of.tensor) {
    SONDE_TRY(scaleKernels(asking, share));
    asking.notes.push_back(fmt::format(
        "{} ranks share each layer instead of {}: kernels and gradients become {:.3g} times as "
        "large, kernels as long. Kernels that each rank repeats, such as norms and residuals, "
        "count "
        "as divided, too",
        tensor,
        groups.tensor.ranks,
        share));
  }
  if (of.data)
    asking.notes.push_back(fmt::format(
        "the job has {} copies of the model instead of {}, each with the present work, so an "
        "iteration works on {:.3g} times as many samples",
        data,
        groups.data.ranks,
        static_cast<double>(data) / static_cast<double>(groups.data.ranks)));
  asking.notes.push_back(fmt::format(
      "the job has {:.3g} times as many ranks; their links are those of the present communicators",
      static_cast<double>(tensor * data) /
          static_cast<double>(groups.tensor.ranks * groups.data.ranks)));
  return {};
}

// Gathers and reductions of n ranks move (n − 1) / n of their bytes over each link.
Result<void> changeOperations(Asking& asking, const Degrees& of) {
  if (of.tensor)
    return notFound(
        "operation-level traces do not tell tensor-parallel ranks apart, so the time of their "
        "collectives is unknown");
  SONDE_TRY_ASSIGN(const operations::OperationGraph job,
                   operations::readOperationGraph(asking.trace));
  const std::int64_t now =
      static_cast<std::int64_t>(job.workers.size()) / std::max<std::int64_t>(job.stages, 1);
  const std::int64_t then = *of.data;
  if (now < 2)
    return notFound(
        "the trace has one data-parallel rank, so the time of reducing gradients is unknown");
  const auto moved = [](std::int64_t ranks) {
    return static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  };
  for (NodeIndex node = 0; node < job.operations.size(); ++node) {
    const model::OperationType type = job.operations[node].type;
    const bool isMoved = type == model::OperationType::ParamsAllGather ||
                         type == model::OperationType::GradsReduceScatter;
    if (job.operations[node].worker != operations::kNoWorker && isMoved)
      asking.scenario.setNode(node,
                              std::llround(static_cast<double>(asking.scenario.durNs()[node]) *
                                           moved(then) / moved(now)),
                              Origin::Modelled);
  }
  asking.modelError = std::max(asking.modelError, errorOfChange(moved(then) / moved(now)));
  asking.notes.push_back(fmt::format(
      "the job has {} copies of the model instead of {}, each with the present work and as slow as "
      "the present ones, so an iteration works on {:.3g} times as many samples; gathers and "
      "reductions count as long enough to have no latency",
      then,
      now,
      static_cast<double>(then) / static_cast<double>(now)));
  return {};
}

}  // namespace

whatif::Question changeDegrees(Degrees degrees) {
  return [degrees](Asking& asking) -> Result<void> {
    SONDE_TRY_ASSIGN(const bool hasOperations, operations::isOperationLevel(asking.trace));
    if (degrees.data || degrees.tensor)
      SONDE_TRY(hasOperations ? changeOperations(asking, degrees) : changeGroups(asking, degrees));
    if (degrees.pipeline.stages)
      SONDE_TRY(changePipeline(degrees.pipeline)(asking));
    asking.notes.emplace_back("whether the ranks have memory for their part is not judged");
    return {};
  };
}

}  // namespace sonde::engine::pipeline
