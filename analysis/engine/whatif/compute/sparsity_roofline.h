// How fast products with a sparse matrix can be at best. Plain functions; any thread.
//
// Source: "The Sparsity Roofline: Understanding the Hardware Limits of Sparse Neural Networks"
// (Shinn et al., arXiv 2310.00496).
#pragma once

#include "analysis/engine/models/kernels/operator_work.h"

#include <algorithm>

namespace sonde::engine::whatif {

struct BlockSparsity {
  double density = 1;  // the part of the blocks that is not 0; above 0, at most 1
  double block = 1;    // numbers in each direction of a block; from 1 on
};

// The least time of the sparse product divided by that of the dense one, at most 1: both by a
// roofline. The sparse one has the operations and the numbers of the blocks that are not 0, and an
// index of four bytes for each.
inline double sparseFactor(const models::OperatorWork& work,
                           const BlockSparsity& of,
                           double flopsPerNs,
                           double bytesPerNs) {
  constexpr double kIndex = 4;
  const double blocks = of.density * work.sideElements / (of.block * of.block);
  const double bytes =
      work.bytes - (1 - of.density) * work.sideBytes + (of.density < 1 ? kIndex * blocks : 0);
  const double dense = std::max(work.flops / flopsPerNs, work.bytes / bytesPerNs);
  const double sparse = std::max(of.density * work.flops / flopsPerNs, bytes / bytesPerNs);
  return std::min(sparse / dense, 1.0);
}

}  // namespace sonde::engine::whatif
