// Who waited for whom in one trace: threads for threads, ranks for each other, threads for devices
// and devices for threads. Reads hand-offs, messages, bytes of sockets and pipes, beginnings of
// processes, collectives, launches and synchronisations. Plain values; reading uses the database's
// thread, and takes some 70 bytes for each wait.
//
// A *lane* is a thread, or a stream of a device. Its time goes by in program order, but for waits:
// what ended one of these, when it did, decides when the lane goes on.
#pragma once

#include "analysis/engine/waits/lanes.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace sonde::engine::waits {

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

struct Waits {
  std::vector<Wait> waits;
  std::vector<Meeting> meetings;
};

// Sorts `lanes.threads`' stretches. Times are those of the tables, as their hosts have them; what
// waits for something on another host is not known here.
Result<Waits> readWaits(const store::Database& trace, Lanes& lanes);

}  // namespace sonde::engine::waits
