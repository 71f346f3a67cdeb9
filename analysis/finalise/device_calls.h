// Places CUDA calls and managed memory events of a live recording among the slices of their
// threads. A tracing library reports them late, so this runs when all slices are there. The thread
// of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <string_view>

namespace sonde::ingest {

// The category of marks of managed memory events.
inline constexpr std::string_view kManagedMemory = "unified_memory";

// Puts each call without a place under the innermost slice of its thread that contains it, with the
// scope that is open when the call begins. Slices inside a call go under it. Marks of managed
// memory get no scope, since their thread is unknown. Requires: a transaction.
Result<void> placeDeviceCalls(store::Database& trace);

}  // namespace sonde::ingest
