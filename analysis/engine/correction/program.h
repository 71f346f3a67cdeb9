// The model of a run that the correction works on: where its threads recorded something, and where
// a thread or a device stream waited for another one. Plain values.
#pragma once

#include "analysis/engine/waits/waits.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sonde::engine::correction {

using waits::kNoLane;
using waits::LaneIndex;
using waits::Meeting;
using waits::Wait;

// The cost of recording one event, in ns of its thread: before its begin is stamped, between begin
// and end, and after its end.
struct EventCost {
  double beforeNs = 0;
  double insideNs = 0;
  double afterNs = 0;

  double sumNs() const noexcept { return beforeNs + insideNs + afterNs; }
};

// One end of a recorded event.
struct CostPoint {
  enum class End : std::uint8_t { Begin, End, Instant };
  std::int64_t at;
  std::uint32_t cost;  // index of the table of costs
  End end;
};

struct Lane {
  std::vector<CostPoint> points;  // by time
};

struct Program {
  std::vector<Lane> lanes;  // by waits::LaneIndex
  std::vector<Wait> waits;
  std::vector<Meeting> meetings;
};

}  // namespace sonde::engine::correction
