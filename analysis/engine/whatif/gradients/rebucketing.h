// Puts other buckets of gradients into a job. Plain values; any thread.
#pragma once

#include "analysis/engine/whatif/gradients/gradient_buckets.h"
#include "analysis/engine/whatif/network/network_model.h"
#include "analysis/engine/whatif/transfer_edits.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::whatif {

// The sizes of buckets: `total` bytes cut at `limit`, or gradients put together until they reach
// it.
std::vector<std::int64_t> cutAt(std::int64_t total, std::int64_t limit);
std::vector<std::int64_t> joinTo(const std::vector<std::int64_t>& gradients,
                                 std::int64_t firstLimit,
                                 std::int64_t limit);

// InvalidArgument: all these, cut at `limit`, would be too many (checkAdded()).
Result<void> checkCuts(const std::vector<IterationBuckets>& iterations, std::int64_t limit);

// Replaces the buckets of an iteration with others of these sizes, each reduced once its last
// gradient is ready.
void rebucket(const IterationBuckets& iteration,
              const std::vector<std::int64_t>& sizes,
              const NetworkModel& model,
              TransferEdits& edits);

}  // namespace sonde::engine::whatif
