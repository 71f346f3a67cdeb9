// The threads of a trace and the streams of its devices, each by an index, and when its threads
// were in something that was recorded. Plain values.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace sonde::engine::waits {

// The index of a lane.
using LaneIndex = std::uint32_t;
inline constexpr LaneIndex kNoLane = std::numeric_limits<LaneIndex>::max();

// A stretch of a thread without anything recorded around it.
struct Outermost {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t waitId = 0;  // the slice, of one that was a wait for something, and not for a time
};

struct ThreadFacts {
  std::int64_t processId = 0;
  LaneIndex lane = kNoLane;
  bool hasIterations = false;
  std::vector<Outermost> outermost;
  std::vector<Outermost> requestWaits;  // calls of MPI that see requests done, by end
};

struct Lanes {
  LaneIndex count = 0;
  std::unordered_map<std::int64_t, ThreadFacts> threads;  // by id
  std::unordered_map<std::int64_t, LaneIndex> ofStream;   // by id
  std::unordered_map<std::int64_t, LaneIndex> ofProcess;  // by id: of the thread that drives it

  LaneIndex add() noexcept { return count++; }
  LaneIndex ofThread(std::int64_t id) const {
    const auto found = threads.find(id);
    return found == threads.end() ? kNoLane : found->second.lane;
  }
};

}  // namespace sonde::engine::waits
