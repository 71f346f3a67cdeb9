// The collectives of each communicator of a job. Plain values and pure functions.
#pragma once

#include "analysis/engine/device/collectives.h"
#include "analysis/engine/intervals/intervals.h"

#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::network {

// Collectives of one communicator, kind, size and number of ranks.
struct CommunicatorRow {
  std::string group;          // `communicator.job_key`
  device::CollectiveRow row;  // its share is that of all collectives' time
  std::int64_t collectives = 0;
  metrics::Interval longest{};  // from the first arrival at the longest of them to its last end
};

// The longest total first. Sends and receives are left out. `within`: only collectives that share
// time with it, as a whole.
std::vector<CommunicatorRow> communicatorRows(
    const std::vector<device::JoinedCollective>& collectives,
    const std::optional<metrics::Interval>& within = {});

}  // namespace sonde::engine::network
