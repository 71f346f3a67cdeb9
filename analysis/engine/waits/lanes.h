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

// An outermost slice of a thread: nothing recorded is around it.
struct Outermost {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t waitId = 0;  // the slice's id if it waited for something other than a time
};

struct ThreadFacts {
  std::int64_t processId = 0;
  LaneIndex lane = kNoLane;
  bool hasIterations = false;
  std::vector<Outermost> outermost;
  std::vector<Outermost> requestWaits;  // MPI calls that complete requests, by end
  std::vector<std::int64_t> ends = {};  // of all it recorded, in order; only readLanes() fills it
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
