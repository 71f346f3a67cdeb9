#include "analysis/engine/whatif/gradients/overlap.h"

#include "analysis/engine/whatif/gradients/gradient_buckets.h"
#include "analysis/engine/whatif/gradients/rebucketing.h"
#include "analysis/engine/whatif/network/networks.h"
#include "analysis/engine/whatif/transfer_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sonde::engine::whatif {
namespace {
// A first bucket that is ready in this last part of the pass was not reduced during it.
constexpr double kLate = 0.95;

bool isLate(const std::vector<ReadyPoint>& points) {
  const auto passed = static_cast<double>(points[1].ns - points.front().ns);
  return passed >= kLate * static_cast<double>(points.back().ns - points.front().ns);
}

}  // namespace

bool isOverlapped(const IterationBuckets& iteration) {
  return std::none_of(iteration.ready.begin(), iteration.ready.end(), isLate);
}

Question overlap(std::int64_t bytes) {
  return [bytes](Asking& asking) -> Result<void> {
    if (bytes < 1)
      return Error{ErrorCode::InvalidArgument, "a bucket has at least one byte"};
    Scenario& scenario = asking.scenario;
    SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                     readCollectives(asking.trace, scenario.job()));
    TransferEdits edits(scenario);
    SONDE_TRY_ASSIGN(std::vector<IterationBuckets> iterations,
                     bucketsOf(asking.trace, scenario.job(), all, edits));
    if (iterations.empty())
      return notFound(kNoBuckets);
    SONDE_TRY(checkMeasured(iterations, edits));
    const std::size_t before = iterations.size();
    std::erase_if(iterations, isOverlapped);
    if (2 * iterations.size() < before) {
      asking.notes.push_back(
          "gradients are reduced during the backward pass already, so nothing changes; "
          "--bucket-size asks for other buckets");
      return {};
    }
    const JobCollective& any = *iterations.front().buckets.front();
    const Networks networks(scenario, all, asking.models.collectives);
    const NetworkModel* model = networks.find(any.communicator, any.op);
    if (model == nullptr)
      return notFound("the trace has too few collectives to tell how fast the network is");
    SONDE_TRY(checkCuts(iterations, bytes));
    for (IterationBuckets& each : iterations) {
      for (std::vector<ReadyPoint>& points : each.ready)
        points = {points.front(), points.back()};
      rebucket(each, cutAt(each.bytes(), bytes), *model, edits);
    }
    SONDE_TRY(edits.apply());
    asking.modelError = std::max(asking.modelError, model->error);
    asking.notes.push_back(fmt::format(
        "gradients are reduced in {} buckets, each when it is ready; this assumes that they are "
        "ready in proportion to the backward pass",
        cutAt(iterations.front().bytes(), bytes).size()));
    return {};
  };
}

}  // namespace sonde::engine::whatif
