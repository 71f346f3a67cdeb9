// When threads went on after waits. Within engine/graph.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/engine/waits/waits.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::graph {

inline constexpr std::uint32_t kNoMeeting = 0xFFFFFFFF;

// A thread goes on, after waits that began and ended together or after a meeting.
struct Resume {
  LaneIndex lane = 0;
  std::int64_t idleFromNs = 0;  // equal to atNs: it was busy
  std::int64_t atNs = 0;
  bool hasWaited = false;       // false: all that it waited for had come before
  std::uint32_t firstWait = 0;  // [firstWait, lastWait) of Waits::waits, sorted
  std::uint32_t lastWait = 0;
  std::uint32_t meeting = kNoMeeting;
  std::int64_t lagNs = 0;  // from the last waker to atNs, besides the waits' own lag
};

// Sorts `waits.waits` and finds when each thread went on. By lane, then by time; a thread is idle
// in one wait at a time. Adds waits for meetings that ended early to `waits.early`; the result does
// not have these.
std::vector<Resume> resumesOf(waits::Waits& waits, const waits::Lanes& lanes);

// When the last lane came to a meeting.
std::int64_t lastArrivalNs(const waits::Meeting& meeting);

}  // namespace sonde::engine::graph
