// What a run did, as far as its correction has to know: where its threads recorded something, and
// where one of them, or a stream of a device, could not go on before another had come so far.
// Plain values.
//
// A *lane* is a thread, or a stream of a device. Its time goes by in program order, but for waits:
// what ended one of these, when it did, decides when the lane goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sonde::engine::correction {

// An index of Program::lanes.
using LaneIndex = std::uint32_t;
inline constexpr LaneIndex kNoLane = std::numeric_limits<LaneIndex>::max();

// What it takes to record one event, in ns of its thread: before its begin was stamped, between
// begin and end, and after its end.
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

// The lane did nothing from `begin` to `end`, because it waited for `waker` to come to `wakerNs`;
// but for what it recorded in there: then it was idle from the last end of an event before
// `wakerNs`. Requires: begin <= end, wakerNs + lagNs <= end. Those of one lane, begin and end are
// waited for all together. Waits may lie within others.
struct Wait {
  // As `begin`: the lane has its first event at `end`, and what the waker did made it begin.
  static constexpr std::int64_t kStart = std::numeric_limits<std::int64_t>::min();
  LaneIndex lane;
  LaneIndex waker;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t wakerNs;
  std::uint32_t lagNs = 0;  // it takes so long until the lane notices; passes while it is busy, too
};

// Lanes that come to one place, and lanes of which none goes on from there before all have come.
struct Meeting {
  struct Arrival {
    LaneIndex lane;
    std::int64_t at;
  };
  // Nothing was done from `begin` on until the last had come. One with an `end` before that did not
  // wait.
  struct Waiting {
    LaneIndex lane;
    std::int64_t begin;
    std::int64_t end;
  };
  std::vector<Arrival> arrivals;
  std::vector<Waiting> waiting;
};

struct Program {
  std::vector<Lane> lanes;
  std::vector<Wait> waits;
  std::vector<Meeting> meetings;
};

}  // namespace sonde::engine::correction
