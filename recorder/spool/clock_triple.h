// What the clocks of a host showed at one instant. A plain value.
#pragma once

#include <cstdint>

namespace sonde::recorder {

// Three readings of one instant on this host.
struct ClockTriple {
  std::uint64_t ticks = 0;
  std::int64_t monotonicNs = 0;
  std::int64_t realtimeNs = 0;
};

}  // namespace sonde::recorder
