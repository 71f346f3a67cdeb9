#include "analysis/engine/whatif/compute/fusion.h"

#include "analysis/engine/models/kernels/operator_times.h"
#include "analysis/engine/models/kernels/work_classes.h"
#include "analysis/engine/whatif/compute/device_works.h"
#include "analysis/engine/whatif/compute/micro_batches.h"
#include "analysis/engine/whatif/job_lanes.h"
#include "analysis/engine/whatif/span_edits.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using graph::EdgeKind;
using graph::Graph;
using graph::LaneIndex;
using graph::NodeIndex;

constexpr double kFusionRule = 0.13;  // the largest error that Daydream reports for fusions

struct OperatorRow {
  std::int64_t id = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  std::string text;

  SONDE_COLUMNS(id, threadId, startNs, durNs, text)
};

// Those that no other operator runs.
constexpr const char* kOperators =
    "SELECT s.id, s.thread_id, s.start_ns, s.dur_ns, n.text FROM slice s JOIN string n ON n.id = "
    "s.name_id LEFT JOIN slice p ON p.id = s.parent_id WHERE s.kind = 'operator' AND s.dur_ns > 0 "
    "AND (p.id IS NULL OR p.kind <> 'operator') ORDER BY s.thread_id, s.start_ns";

struct LaunchedKernel {
  std::int64_t id = 0;
  std::int64_t operatorId = 0;
  std::int64_t blocks = 0;
  std::int64_t threads = 0;

  SONDE_COLUMNS(id, operatorId, blocks, threads)
};

constexpr const char* kLaunchedKernels =
    "SELECT k.id, coalesce(k.scope_id, l.scope_id, 0) AS operator_id, coalesce(k.grid_x * k.grid_y "
    "* k.grid_z, 0) AS blocks, coalesce(k.block_x * k.block_y * k.block_z, 0) AS threads FROM "
    "kernel k LEFT JOIN slice l ON l.id = k.launch_slice_id";

// How much a kernel or an operator works on; 0: not recorded.
struct WorkSize {
  double elements = 0;      // of its operator's largest input
  std::int64_t blocks = 0;  // of a kernel
  std::int64_t threads = 0;
};
using WorkSizes = std::unordered_map<std::int64_t, WorkSize>;  // by row of the kernel

// nullopt: unknown.
std::optional<bool> isSameSize(const WorkSize& one, const WorkSize& other) {
  if (one.elements > 0 && other.elements > 0)
    return one.elements == other.elements;
  if (one.blocks > 0 && other.blocks > 0)
    return one.blocks == other.blocks && one.threads == other.threads;
  return std::nullopt;
}

struct Operator {
  Span span;
  bool isPointwise = false;
  WorkSize size = {};
};
using Operators = std::map<LaneIndex, std::vector<Operator>>;  // by begin

struct FusionInputs {
  Operators operators;
  WorkSizes kernels;
  ThreadSpans optimizers;
};

double elementsIn(const std::unordered_map<std::int64_t, double>& inputs, std::int64_t slice) {
  const auto at = inputs.find(slice);
  return at == inputs.end() ? 0 : at->second;
}

Result<FusionInputs> readInputs(const store::Database& trace, const graph::TraceGraph& job) {
  FusionInputs found;
  SONDE_TRY_ASSIGN(found.optimizers, optimizerSpans(trace, job));
  SONDE_TRY_ASSIGN(const auto inputs, models::largestInputs(trace));
  SONDE_TRY_ASSIGN(const JobLanes lanes, JobLanes::read(trace, job.graph));
  SONDE_TRY(store::forEach<OperatorRow>(trace, kOperators, [&](const OperatorRow& row) {
    if (const auto call = lanes.ofThread(row))
      found.operators[call->lane].push_back(
          {call->span,
           models::classOfOperator(row.text) == models::WorkClass::Pointwise &&
               !found.optimizers.contains(call->lane, call->span.beginNs),
           {.elements = elementsIn(inputs, row.id)}});
  }));
  SONDE_TRY(store::forEach<LaunchedKernel>(trace, kLaunchedKernels, [&](const LaunchedKernel& row) {
    found.kernels[row.id] = {elementsIn(inputs, row.operatorId), row.blocks, row.threads};
  }));
  return found;
}

// Fuses what follows each other and has the same size.
class Fusing {
 public:
  Fusing(Scenario& scenario, const FusionInputs& inputs)
      : scenario_(scenario), lookup_(scenario.graph()), inputs_(inputs) {}

  void fuseKernels(const std::vector<DeviceWork>& works) {
    std::vector<std::size_t> removed;
    Calls kept;
    for (std::size_t first = 0; first < works.size();) {
      std::size_t last = first + 1;
      while (last < works.size() && follows(works[last - 1], works[last]))
        ++last;
      if (works[first].thread)
        kept[*works[first].thread].push_back(works[first].call.beginNs);
      if (last - first > 1)
        keepLongest(works, first, last);
      for (std::size_t i = first + 1; i < last; ++i)
        removed.push_back(i);
      first = last;
    }
    for (auto& [thread, of] : kept)
      std::sort(of.begin(), of.end());
    for (const std::size_t i : removed)
      removeCall(works[i], kept[*works[i].thread]);
  }

  void fuseOperators() {
    for (const auto& [lane, all] : inputs_.operators)
      for (std::size_t first = 0; first < all.size();) {
        std::size_t last = first + 1;
        while (last < all.size() && follow(lane, all[last - 1], all[last]))
          ++last;
        if (last - first > 1)
          keepLongest(lane, all, first, last);
        first = last;
      }
  }

  std::int64_t fused() const noexcept { return fused_; }
  // Those that were fused though nothing says how large they are.
  std::int64_t unknown() const noexcept { return unknown_; }

 private:
  using Calls = std::map<LaneIndex, std::vector<std::int64_t>>;  // when they begin, by thread

  const Graph& graph() const { return scenario_.graph(); }

  bool isPointwise(const DeviceWork& work) const {
    return !work.isCollective && work.thread &&
           models::classOfKernel(work.name) == models::WorkClass::Pointwise &&
           !inputs_.optimizers.contains(*work.thread, work.call.beginNs);
  }

  WorkSize sizeOf(const DeviceWork& work) const {
    const auto at = inputs_.kernels.find(graph().row[work.node]);
    return at == inputs_.kernels.end() ? WorkSize() : at->second;
  }

  // Unknown sizes count as the same.
  bool haveSameSize(const WorkSize& before, const WorkSize& each) {
    const std::optional<bool> isSame = isSameSize(before, each);
    unknown_ += isSame ? 0 : 1;
    return isSame.value_or(true);
  }

  // Nothing comes between them, and the second one needs nothing else.
  bool follows(const DeviceWork& before, const DeviceWork& work) {
    if (work.node != before.node + 1 || graph().lane[work.node] != graph().lane[before.node] ||
        before.thread != work.thread || !isPointwise(before) || !isPointwise(work))
      return false;
    for (std::uint32_t edge = graph().firstIn[work.node]; edge < graph().firstIn[work.node + 1];
         ++edge)
      if (graph().edgeKind[edge] != EdgeKind::Order && graph().edgeKind[edge] != EdgeKind::Launch)
        return false;
    return haveSameSize(sizeOf(before), sizeOf(work));
  }

  void keepLongest(const std::vector<DeviceWork>& works, std::size_t first, std::size_t last) {
    std::int64_t longest = 0;
    for (std::size_t i = first; i < last; ++i)
      longest = std::max(longest, scenario_.durNs()[works[i].node]);
    for (std::size_t i = first; i < last; ++i)
      scenario_.setNode(works[i].node, i == first ? longest : 0, Origin::Modelled);
    fused_ += static_cast<std::int64_t>(last - first);
  }

  // With the pointwise operator around it, unless that makes one of the calls that are kept.
  void removeCall(const DeviceWork& work, const std::vector<std::int64_t>& kept) {
    Span span = work.call;
    if (const auto of = inputs_.operators.find(*work.thread); of != inputs_.operators.end()) {
      const auto after = std::upper_bound(
          of->second.begin(),
          of->second.end(),
          span.beginNs,
          [](std::int64_t ns, const Operator& each) { return ns < each.span.beginNs; });
      if (after != of->second.begin() && (after - 1)->isPointwise &&
          (after - 1)->span.endNs >= span.endNs && !hasAny(kept, (after - 1)->span))
        span = (after - 1)->span;
    }
    scaleSpan(scenario_, lookup_, *work.thread, span, 0, Origin::Modelled);
  }

  static bool hasAny(const std::vector<std::int64_t>& calls, const Span& span) {
    const auto first = std::lower_bound(calls.begin(), calls.end(), span.beginNs);
    return first != calls.end() && *first < span.endNs;
  }

  // The thread does not wait from the begin of the first one to the end of the second one.
  bool follow(LaneIndex lane, const Operator& before, const Operator& each) {
    const NodeIndex next = lookup_.beginsFrom(lane, before.span.beginNs + 1);
    const bool isOneNode =
        next >= lookup_.rangeOf(lane).second || graph().beginNs[next] >= each.span.endNs;
    return before.isPointwise && each.isPointwise && isOneNode &&
           haveSameSize(before.size, each.size);
  }

  void keepLongest(LaneIndex lane,
                   const std::vector<Operator>& all,
                   std::size_t first,
                   std::size_t last) {
    const auto longest =
        std::max_element(all.begin() + static_cast<std::ptrdiff_t>(first),
                         all.begin() + static_cast<std::ptrdiff_t>(last),
                         [](const Operator& a, const Operator& b) {
                           return a.span.endNs - a.span.beginNs < b.span.endNs - b.span.beginNs;
                         });
    for (std::size_t i = first; i < last; ++i)
      if (&all[i] != &*longest)
        scaleSpan(scenario_, lookup_, lane, all[i].span, 0, Origin::Modelled);
    fused_ += static_cast<std::int64_t>(last - first);
  }

  Scenario& scenario_;
  const LaneLookup lookup_;
  const FusionInputs& inputs_;
  std::int64_t fused_ = 0;
  std::int64_t unknown_ = 0;
};

Result<void> fusePointwise(Asking& asking) {
  Scenario& scenario = asking.scenario;
  SONDE_TRY_ASSIGN(const std::vector<DeviceWork> works,
                   readDeviceWorks(asking.trace, scenario.job()));
  SONDE_TRY_ASSIGN(const FusionInputs inputs, readInputs(asking.trace, scenario.job()));
  Fusing fusing(scenario, inputs);
  if (works.empty())
    fusing.fuseOperators();
  else
    fusing.fuseKernels(works);
  if (fusing.fused() == 0)
    return notFound(works.empty() && inputs.operators.empty()
                        ? "the trace has neither kernels nor operators: 'sonde run "
                          "--torch-operators' records operators"
                        : "no pointwise kernels or operators of one size follow each other, but "
                          "for those of optimizers");
  asking.notes.push_back(
      fmt::format("{} pointwise {} are fused with their neighbours, and of each group the longest "
                  "one's time remains",
                  fusing.fused(),
                  works.empty() ? "operators" : "kernels"));
  if (fusing.unknown() > 0)
    asking.notes.push_back(
        fmt::format("{} of them have no recorded size, and count as large as the one before",
                    fusing.unknown()));
  return {};
}

Result<void> fuseOptimizers(Asking& asking) {
  Scenario& scenario = asking.scenario;
  SONDE_TRY_ASSIGN(const std::vector<MicroBatch> batches,
                   readMicroBatches(asking.trace, scenario.job()));
  SONDE_TRY_ASSIGN(const std::vector<DeviceWork> works,
                   readDeviceWorks(asking.trace, scenario.job()));
  const LaneLookup lookup(scenario.graph());
  std::map<LaneIndex, std::vector<std::int64_t>> calls;  // when they begin, by thread
  for (const DeviceWork& each : works)
    if (each.thread && !each.isCollective)
      calls[*each.thread].push_back(each.call.beginNs);
  for (auto& [lane, of] : calls)
    std::sort(of.begin(), of.end());
  std::int64_t launches = 0;
  for (const MicroBatch& each : batches) {
    const std::vector<std::int64_t>& of = calls[each.driver];
    const auto count = std::lower_bound(of.begin(), of.end(), each.optimizer.endNs) -
                       std::lower_bound(of.begin(), of.end(), each.optimizer.beginNs);
    if (count < 2)
      continue;
    launches += count;
    scaleSpan(scenario,
              lookup,
              each.driver,
              each.optimizer,
              1 / static_cast<double>(count),
              Origin::Modelled);
  }
  if (launches == 0)
    return notFound("no optimizer of the trace launches more than one kernel");
  asking.notes.push_back(fmt::format(
      "{:.0f} kernels of each optimizer step become one, which takes as long as all of them",
      static_cast<double>(launches) / static_cast<double>(batches.size())));
  return {};
}

}  // namespace

Question fusion(Fusion what) {
  return [what](Asking& asking) -> Result<void> {
    SONDE_TRY(what == Fusion::Pointwise ? fusePointwise(asking) : fuseOptimizers(asking));
    asking.modelError = std::max(asking.modelError, kFusionRule);
    return {};
  };
}

}  // namespace sonde::engine::whatif
