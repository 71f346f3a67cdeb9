// What ties a live recording's device work and memory to the call that it is from, by CUPTI's
// correlation. These are 32 bits wide and come again in a long job: of the calls with the same one
// it is the last before the work, unless that was more than 2^32 microseconds before. The thread of
// the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <string_view>

namespace sonde::ingest {

// State of a spool: an id that the program gave to its calls, each an ExternalId. Joining takes it.
inline constexpr std::string_view kExternalIds = "external";
struct ExternalId {
  std::int64_t process;  // row
  std::int64_t correlation;
  std::int64_t key;  // string: of the argument
  std::int64_t id;
  std::int64_t heardNs;  // the call began before
};

// Kernels and copies get the call of their process and correlation as launch, its scope and how
// long after its begin they began; allocations the call and its scope; the record of an event the
// time of its call, and a wait for an event the record before it; calls the ids that the program
// gave them. What has them keeps them. Requires: a transaction and placeDeviceCalls().
Result<void> joinLaunches(store::Database& trace);

}  // namespace sonde::ingest
