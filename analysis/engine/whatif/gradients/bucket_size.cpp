#include "analysis/engine/whatif/gradients/bucket_size.h"

#include "analysis/engine/whatif/gradients/gradient_buckets.h"
#include "analysis/engine/whatif/gradients/rebucketing.h"
#include "analysis/engine/whatif/network_model.h"
#include "analysis/engine/whatif/retimed_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

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
    const std::string communicator = iterations.front().buckets.front()->communicator;
    SONDE_TRY(checkMeasured(iterations, edits));
    const std::map<std::string, NetworkModel> models = networksOf(asking.scenario, all);
    const auto model = models.find(communicator);
    if (model == models.end())
      return notFound("the trace has too few collectives to tell how fast the network is");
    std::int64_t sum = 0;
    for (const std::int64_t each : known.bytes)
      sum += each;
    double before = 0;
    double after = 0;
    for (const IterationBuckets& each : iterations) {
      const bool isKnown = sum == each.bytes();
      const std::vector<std::int64_t> sizes =
          isKnown ? joinTo(known.bytes, known.firstLimit, bytes) : cutAt(each.bytes(), bytes);
      before += static_cast<double>(each.buckets.size());
      after += static_cast<double>(sizes.size());
      rebucket(each, sizes, model->second, edits);
    }
    SONDE_TRY(edits.apply());
    asking.modelError = std::max(asking.modelError, model->second.error);
    const auto count = static_cast<double>(iterations.size());
    asking.notes.push_back(
        fmt::format("{:.1f} buckets an iteration instead of {:.1f}, each with {:.1f} µs a step and "
                    "{:.2f} Gbit/s, fitted with {:.1f} % error{}",
                    after / count,
                    before / count,
                    model->second.stepNs / 1e3,
                    model->second.byteNs > 0 ? 8 / model->second.byteNs : 0,
                    100 * model->second.error,
                    sum > 0 ? "" : "; the sizes of the gradients are unknown"));
    return {};
  };
}

}  // namespace sonde::engine::whatif
