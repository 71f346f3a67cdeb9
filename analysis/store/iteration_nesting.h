// Finds the iterations of a trace that are inside others of their thread; if the thread is unknown,
// of their process. Reading uses the database's thread; then plain values.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>

namespace sonde::store {

// Maps each inner iteration's id to the iteration directly around it.
//
// An iteration without an end normally contains nothing, since its end may only be lost. Exception:
// this thread's iterations contained others before. Then the first one without an end contains all
// that begin after it, if these are nested less deeply than before, as its own parts would be.
using IterationHolders = std::unordered_map<std::int64_t, std::int64_t>;

Result<IterationHolders> readIterationHolders(const Database& trace);

}  // namespace sonde::store
