#include "analysis/engine/whatif/bucket_size.h"

#include "analysis/engine/whatif/gradient_buckets.h"
#include "analysis/engine/whatif/network_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace sonde::engine::whatif {
namespace {

// Replaces the buckets of an iteration with others of these sizes.
void rebucket(const IterationBuckets& iteration,
              const std::vector<std::int64_t>& sizes,
              const NetworkModel& model,
              TransferEdits& edits) {
  const JobCollective& first = *iteration.buckets.front();
  auto old = iteration.buckets.begin();
  std::int64_t oldBytes = 0;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    bytes += sizes[i];
    const graph::NodeIndex transfer = edits.add(
        first.communicator, model.ns(costOf(first.op, sizes[i], first.ranks)), Origin::Modelled);
    for (const std::vector<ReadyPoint>& points : iteration.ready) {
      const ReadyPoint point = readyAt(points, bytes);
      edits.needs(transfer, point.lane, point.ns);
    }
    // The first transfer after which all of an old bucket has been reduced.
    const bool isLast = i + 1 == sizes.size();
    for (; old != iteration.buckets.end() && (isLast || oldBytes + (*old)->bytes <= bytes); ++old) {
      oldBytes += (*old)->bytes;
      for (const CollectivePart& part : (*old)->parts)
        edits.replace(**old, part, transfer);
    }
  }
}

}  // namespace

std::vector<std::int64_t> cutAt(std::int64_t total, std::int64_t limit) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(total / limit), limit);
  if (total % limit > 0)
    sizes.push_back(total % limit);
  return sizes;
}

std::vector<std::int64_t> joinTo(const std::vector<std::int64_t>& gradients,
                                 std::int64_t firstLimit,
                                 std::int64_t limit) {
  std::vector<std::int64_t> sizes;
  bool isOpen = false;
  for (const std::int64_t each : gradients) {
    if (!isOpen)
      sizes.push_back(0);
    sizes.back() += each;
    isOpen = sizes.back() < (sizes.size() == 1 ? firstLimit : limit);
  }
  return sizes;
}

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
      return notFound(
          "the trace has no iteration in which all ranks reduce gradients: buckets are all-reduces "
          "and reduce-scatters of 4 KiB and more");
    SONDE_TRY_ASSIGN(const GradientSizes known, readGradientSizes(asking.trace));
    const std::string communicator = iterations.front().buckets.front()->communicator;
    const std::map<std::string, NetworkModel> models = fitNetworks(all);
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
