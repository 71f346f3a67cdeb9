// Where the calls of CUDA of a live recording, and what happened to managed memory, stand among the
// slices of their threads. A tracing library tells of them late, so it is found when all are there.
// The thread of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <string_view>

namespace sonde::ingest {

// The category of marks of what happened to managed memory.
inline constexpr std::string_view kManagedMemory = "unified_memory";

// Puts each call that has no place yet under the innermost slice of its thread that holds it, and
// gives it the scope that is open when it begins. What lies in a call goes under it. Marks of
// managed memory get no scope: which thread it was is not known. Requires: a transaction.
Result<void> placeDeviceCalls(store::Database& trace);

}  // namespace sonde::ingest
