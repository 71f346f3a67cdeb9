// Reads the tracks of counters. Worker's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/trace/trace_data.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::gui {

// A counter's track, and the rows that it belongs to.
struct CounterTrack {
  TrackInfo track;  // without its process
  std::optional<std::int64_t> processId;
  std::optional<std::int64_t> deviceId;  // only of no process
  std::int64_t hostId = 0;
};

// Those with samples: of devices, then of processes, then of threads, then of machines. `devices`:
// the names of devices by id.
[[nodiscard]] Result<std::vector<CounterTrack>> readCounterTracks(
    const store::Database& trace, const std::vector<DeviceInfo>& devices);

}  // namespace sonde::gui
