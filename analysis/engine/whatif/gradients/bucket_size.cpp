#include "analysis/engine/whatif/gradients/bucket_size.h"

#include "analysis/engine/whatif/gradients/gradient_buckets.h"
#include "analysis/engine/whatif/gradients/rebucketing.h"
#include "analysis/engine/whatif/network/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {

Question bucketSize(std::int64_t bytes) {
  return [bytes](Asking& asking) -> Result<void> {
    if (bytes < 1)
      return Error{ErrorCode::InvalidArgument, "a bucket has at least one byte"};
    SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                     readCollectives(asking.trace, asking.scenario.job()));
    TransferEdits edits(asking.scenario);
    SONDE_TRY_ASSIGN(const std::vector<IterationBuckets> iterations,
                     bucketsOf(asking.trace, asking.scenario.job(), all, edits));
    if (iterations.empty())
      return notFound(kNoBuckets);
    SONDE_TRY_ASSIGN(const GradientSizes known, readGradientSizes(asking.trace));
    SONDE_TRY(checkMeasured(iterations, edits));
    const JobCollective& first = *iterations.front().buckets.front();
    const Networks networks(asking.scenario, all, asking.models.collectives);
    const NetworkModel* model = networks.find(first.communicator, first.op);
    if (model == nullptr)
      return notFound("the trace has too few collectives to tell how fast the network is");
    std::int64_t sum = 0;
    for (const std::int64_t each : known.bytes)
      sum += each;
    std::vector<IterationBuckets> cut = iterations;
    std::erase_if(cut, [sum](const IterationBuckets& each) { return each.bytes() == sum; });
    SONDE_TRY(checkCuts(cut, bytes));
    double before = 0;
    double after = 0;
    for (const IterationBuckets& each : iterations) {
      const bool isKnown = sum == each.bytes();
      const std::vector<std::int64_t> sizes =
          isKnown ? joinTo(known.bytes, known.firstLimit, bytes) : cutAt(each.bytes(), bytes);
      before += static_cast<double>(each.buckets.size());
      after += static_cast<double>(sizes.size());
      rebucket(each, sizes, *model, edits);
    }
    SONDE_TRY(edits.apply());
    asking.modelError = std::max(asking.modelError, model->error);
    const auto count = static_cast<double>(iterations.size());
    asking.notes.push_back(
        fmt::format("{:.1f} buckets an iteration instead of {:.1f}, each with {}{}",
                    after / count,
                    before / count,
                    networks.describe(first.communicator, first.op),
                    sum > 0 ? "" : "; the sizes of the gradients are unknown"));
    return {};
  };
}

}  // namespace sonde::engine::whatif
