// The kernels of an iteration by name and shape, to see whether two processes train the same model,
// and how much of their devices they use. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <map>
#include <utility>

namespace sonde::engine::device {

struct KernelProfile {
  // The name's id, then blocks and threads in three dimensions; 0: not recorded.
  using Shape = std::pair<std::int64_t, std::array<std::int64_t, 6>>;

  std::map<Shape, double> perIteration;  // kernels of each shape
  std::int64_t kernels = 0;
  std::int64_t shaped = 0;         // of these: with known blocks
  std::int64_t communicating = 0;  // by their names (store/communication_kernels.h)
  // The share of the time and of the multiprocessors that kernels have: a kernel of fewer blocks
  // than the device has multiprocessors uses one for each block. Where either is unknown, a kernel
  // uses all. Above 1 if several ran at once.
  double used = 0;
};

// Counts the kernels that begin in the rank's complete iterations. Empty without iterations.
Result<KernelProfile> kernelProfile(const store::Database& trace, const metrics::RankProcess& rank);

// The kernels that both have, divided by those that either has: 1 for the same kernels, 0 without a
// common one (the weighted Jaccard index). 0 if both are empty.
double similarityOf(const KernelProfile& a, const KernelProfile& b);

}  // namespace sonde::engine::device
