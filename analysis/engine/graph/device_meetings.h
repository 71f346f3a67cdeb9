// Kernels that take part in meetings. Within engine/graph.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/engine/waits/waits.h"

#include <cstdint>
#include <tuple>
#include <vector>

namespace sonde::engine::graph {

struct DeviceMeeting {
  LaneIndex lane;
  std::int64_t begin;     // of the kernel
  std::uint32_t meeting;  // index

  auto place() const { return std::tie(lane, begin); }
};

// By lane and begin, one for each begin. `isDevice`: by lane.
std::vector<DeviceMeeting> deviceMeetingsOf(const std::vector<waits::Meeting>& meetings,
                                            const std::vector<bool>& isDevice);

}  // namespace sonde::engine::graph
