// Joins a live recording's device work and memory to calls by CUPTI's correlation. Correlations
// have 32 bits and repeat in a long job: the last call before the work counts, unless it was more
// than 2^32 microseconds before. The thread of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <string_view>

namespace sonde::ingest {

// State of a spool: an id that the program gave to its calls, an ExternalId each. Joining removes
// it.
inline constexpr std::string_view kExternalIds = "external";
struct ExternalId {
  std::int64_t process;  // row
  std::int64_t correlation;
  std::int64_t key;  // id of a string: the argument's key
  std::int64_t id;
  std::int64_t heardNs;  // the call began before this
};

// Kernels and copies get their call by process and correlation as launch, the call's scope, and the
// delay after its begin. Allocations get the call and its scope. The record of an event gets the
// time of its call; a wait for an event gets the record before it. Calls get the program's ids.
// Existing values stay. Requires: a transaction and placeDeviceCalls().
Result<void> joinLaunches(store::Database& trace);

}  // namespace sonde::ingest
