// The bytes that each iteration of a rank moves over networks, and between its host and devices.
// Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::metrics {

struct MovedBytes {
  // One for each of the rank's iterations, in their order.
  std::vector<std::int64_t> network;  // sent and received
  std::vector<std::int64_t> copies;   // from host to device and back
  std::int64_t transfers = 0;         // pieces that `network` counts; 0: none was recorded
  bool fromCollectives = false;       // `network` is the size of collectives, since no transfer of
                                      // TCP, MPI or NCCL was recorded
  std::int64_t copied = 0;            // copies that `copies` counts
  std::int64_t unsized = 0;           // further copies, of unknown size
};

// A transfer, collective or copy counts for the iteration in which it begins; outside of all, for
// none.
Result<MovedBytes> movedBytes(const store::Database& trace, const RankProcess& rank);

}  // namespace sonde::engine::metrics
