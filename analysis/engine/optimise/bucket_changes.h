// Sizes of buckets of gradients that the optimiser tries. Uses the database's thread.
#pragma once

#include "analysis/engine/optimise/change.h"
#include "analysis/engine/whatif/asked_job.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::optimise {

// Sizes that divide `bytes` into 1 to 64 buckets, rounded up to numbers that people like to write.
// Requires: bytes > 0.
std::vector<std::int64_t> bucketSizes(std::int64_t bytes);

// Only sizes whose backward pass, as replayed by the chain of dPRO (chain.h), ends within 2 % of an
// iteration of the best one: as it is, with gradients of half the bytes, and with computing two and
// three times as fast. The gradients of a job that reduces them after its backward pass are reduced
// during it, in buckets of these sizes. NotFound: as of whatif::bucketSize().
Result<Family> bucketChanges(const whatif::AskedJob& job);
// Without leaving out any size.
Result<Family> allBucketChanges(const whatif::AskedJob& job);

}  // namespace sonde::engine::optimise
