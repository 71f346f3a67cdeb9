// Reads the events of devices and the network for process_events. Within engine/breakdown; the
// thread of the given database.
#pragma once

#include "analysis/engine/breakdown/process_events.h"
#include "analysis/store/communication_kernels.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::engine::breakdown {

// The processes that own streams and channels, by id: indices of TraceEvents::processes.
struct LaneOwners {
  std::unordered_map<std::int64_t, std::size_t> streams;
  std::unordered_map<std::int64_t, std::size_t> channels;
};

struct DeviceEvents {
  std::vector<std::vector<DeviceLane>> lanes;  // by process
  std::int64_t negative = 0;                   // they end before they begin
  std::int64_t endsUnknown = 0;                // their ends are unknown, so they take no time
};

// Corrupt: an id does not fit into 32 bits, or a time is invalid. Requires: owners are less than
// `processes`.
Result<DeviceEvents> readDeviceEvents(const store::Database& trace,
                                      const LaneOwners& owners,
                                      const store::CommunicationKernels& communication,
                                      std::size_t processes);

// Converts a row's id. Corrupt: it does not fit into 32 bits.
Result<std::uint32_t> shortId(std::int64_t id);

}  // namespace sonde::engine::breakdown
