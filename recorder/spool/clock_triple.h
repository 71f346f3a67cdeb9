// The clocks of a host at one instant. A plain value.
#pragma once

#include <cstdint>

namespace sonde::recorder {

// Three clocks of this host, read at one instant.
struct ClockTriple {
  std::uint64_t ticks = 0;
  std::int64_t monotonicNs = 0;
  std::int64_t realtimeNs = 0;
};

}  // namespace sonde::recorder
