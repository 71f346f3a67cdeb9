// What devices and the network did, read for process_events. Within engine/breakdown; the thread of
// the database that it is given.
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

// Whose they are: indices of TraceEvents::processes, by id.
struct LaneOwners {
  std::unordered_map<std::int64_t, std::size_t> streams;
  std::unordered_map<std::int64_t, std::size_t> channels;
};

struct DeviceEvents {
  std::vector<std::vector<DeviceLane>> lanes;  // by process
  std::int64_t negative = 0;                   // that end before they begin
  std::int64_t endsUnknown = 0;                // that take no time, as their ends are not known
};

// Corrupt: an id does not fit into 32 bits, or a time is none. Requires: owners are less than
// `processes`.
Result<DeviceEvents> readDeviceEvents(const store::Database& trace,
                                      const LaneOwners& owners,
                                      const store::CommunicationKernels& communication,
                                      std::size_t processes);

// Of a row. Corrupt: there can be no such row.
Result<std::uint32_t> shortId(std::int64_t id);

}  // namespace sonde::engine::breakdown
