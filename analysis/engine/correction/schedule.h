// The waits of a program in the order in which a correction visits them. Made once per program, for
// any number of corrections. Plain value.
#pragma once

#include "analysis/engine/correction/program.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::correction {

struct Schedule {
  // Waits of one lane that begin and end together.
  struct Group {
    LaneIndex lane;
    bool isStart;
    std::int64_t latest;  // time at which all it waits for has come, at least its own begin
  };

  struct Stop {
    // At one time a lane goes on before it does anything else, and wakers come before waiters.
    enum class Kind : std::uint8_t {
      Begin,   // lane `source` begins to wait in group `target`
      Waker,   // lane `source` is where group `target` waits for it
      Arrive,  // lane `source` comes to meeting `target`
      Met,     // all have come to meeting `source`, for which group `target` waits
      GoOn,    // lane `source` goes on, in group `target`
    };
    std::int64_t at;
    Kind kind;
    std::uint32_t target;
    std::uint32_t source;
    std::uint32_t lagNs = 0;  // of a waker
  };

  std::vector<Group> groups;
  std::vector<Stop> stops;  // by time
  std::size_t meetings = 0;
};

// O(n log n) for n waits and arrivals.
Schedule scheduleOf(const Program& program);

}  // namespace sonde::engine::correction
