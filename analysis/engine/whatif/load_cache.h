// Asks how long an iteration takes if a cache has a part of the batches. Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>

namespace sonde::engine::whatif {

struct LoadCache {
  double hit = 1;          // the part of the batches that the cache has
  std::int64_t hitNs = 0;  // the time of such a batch
};

// Loads, and the work of loaders' workers, take their mean time with the cache. NotFound: the trace
// has no loads. InvalidArgument: the part is not between 0 and 1, or the time is negative.
Question loadCache(LoadCache of);

}  // namespace sonde::engine::whatif
