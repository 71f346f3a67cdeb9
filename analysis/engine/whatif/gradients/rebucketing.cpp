#include "analysis/engine/whatif/gradients/rebucketing.h"

#include <fmt/format.h>

#include <cstddef>

namespace sonde::engine::whatif {

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

Result<void> checkCuts(const std::vector<IterationBuckets>& iterations, std::int64_t limit) {
  double added = 0;
  for (const IterationBuckets& each : iterations) {
    const double cuts = static_cast<double>(each.bytes()) / static_cast<double>(limit);
    added += cuts * static_cast<double>(2 + each.ready.size());  // its node, and what it needs
  }
  return checkAdded(
      added, fmt::format("reductions of {} bytes", limit), "give a larger size, such as 25MiB");
}

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
        first, sizes[i], model.ns(costOf(first.op, sizes[i], first.ranks)), Origin::Modelled);
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

}  // namespace sonde::engine::whatif
