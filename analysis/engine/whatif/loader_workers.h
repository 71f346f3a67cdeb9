// The question how long a job would take with another number of loader workers. Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>

namespace sonde::engine::whatif {

inline constexpr std::int64_t kPrefetch = 2;  // batches of a worker, as PyTorch's default
inline constexpr std::int64_t kMostWorkers = 10'000;

// Each rank has `workers` processes that load its batches in turns, each `prefetch` batches ahead;
// with 0 the rank loads them itself. Each worker has a processor of its own. NotFound: the trace
// has no loads. InvalidArgument: a worker is less than one batch ahead, or `workers` is not from 0
// to kMostWorkers.
Question loaderWorkers(std::int64_t workers, std::int64_t prefetch = kPrefetch);

}  // namespace sonde::engine::whatif
