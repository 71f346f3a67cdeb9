// Which iterations of a trace lie within others of their thread; of those of which the thread is
// not known, of their process. Reading uses the database's thread; then plain values.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>

namespace sonde::store {

// By id, of each iteration that lies within others the one that it lies directly within.
//
// One that has no end holds nothing, as its end may just be lost, but where this thread's
// iterations held others before: then the first that has none holds all that begin after it,
// provided that these are nested less deeply than what there was before, as its own parts would be.
using IterationHolders = std::unordered_map<std::int64_t, std::int64_t>;

Result<IterationHolders> readIterationHolders(const Database& trace);

}  // namespace sonde::store
