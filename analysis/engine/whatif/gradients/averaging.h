// The question how long an iteration would take if gradients were averaged in groups of ranks.
// Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::whatif {

struct Averaging {
  std::optional<std::int64_t> size = {};  // of a group; empty: defaultGroupSize()
  bool waits = true;                      // for late ranks of the group
};

// The least power of two that is not below the square root of the number of ranks.
std::int64_t defaultGroupSize(std::int64_t ranks);

// The groups of an iteration, by place among the ranks. Each has the places that differ in
// log₂(size) of the bits, which are the next ones in each iteration. Requires: powers of two, and a
// size from 1 to `ranks`.
std::vector<std::vector<std::size_t>> averagingGroups(std::int64_t ranks,
                                                      std::int64_t size,
                                                      std::int64_t iteration);

// Each bucket takes the time of an all-reduce of its group, and waits for the group alone, or for
// nobody (Li et al., "Breaking (Global) Barriers in Parallel Stochastic Optimization with
// Wait-Avoiding Group Averaging", 2021, section 3). NotFound: the trace has no buckets that are
// all-reduces. InvalidArgument: the ranks or the size are no power of two, or the size is not from
// 2 to the number of ranks.
Question averaging(Averaging of);

}  // namespace sonde::engine::whatif
