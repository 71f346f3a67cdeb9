// Who waited for whom in one trace: threads for threads, ranks for each other, threads for devices
// and devices for threads. Reads hand-offs, messages, bytes of sockets and pipes, process starts,
// collectives, launches and synchronisations. Plain values. Reading uses the database's thread and
// takes some 70 bytes for each wait.
//
// A *lane* is a thread, or a stream of a device. Its time passes in program order, except in waits:
// the lane goes on at a time that depends on what ended the wait.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/waits/lanes.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace sonde::engine::waits {

// The lane did nothing from `begin` to `end`, because it waited for `waker` to reach `wakerNs`. If
// it recorded something inside, it was idle from the last end of an event before `wakerNs`.
// Requires: begin <= end, wakerNs + lagNs <= end. Waits with the same lane, begin and end end when
// all their wakers have come. Waits may be nested.
struct Wait {
  // As `begin`: the lane's first event is at `end`, and the waker made it begin.
  static constexpr std::int64_t kStart = std::numeric_limits<std::int64_t>::min();
  LaneIndex lane;
  LaneIndex waker;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t wakerNs;
  std::uint32_t lagNs = 0;  // how long the lane takes to notice; passes while it is busy, too
};

// Lanes that meet. The waiting ones go on when all have arrived.
struct Meeting {
  struct Arrival {
    LaneIndex lane;
    std::int64_t at;
  };
  // The lane did nothing from `begin` until the last arrival. If its `end` is earlier, it did not
  // wait.
  struct Waiting {
    LaneIndex lane;
    std::int64_t begin;
    std::int64_t end;
  };
  std::vector<Arrival> arrivals;
  std::vector<Waiting> waiting;
};

// Waits that ended before what they waited for had come, as clocks that disagree cause it.
struct EarlyEnds {
  std::int64_t count = 0;
  std::int64_t worstNs = 0;  // from the end until it came

  void add(std::int64_t ns) {
    ++count;
    worstNs = std::max(worstNs, ns);
  }
};

struct Waits {
  std::vector<Wait> waits;
  std::vector<Meeting> meetings;
  EarlyEnds early;  // left out of `waits`
};

// Returns times on the job's clock, as `clock` converts them. Waits for something on another host
// are known if both hosts are mapped. With JobClock() times are those of the hosts, and no wait
// leads to another host. Sorts the stretches of `lanes.threads`. Requires: these are by the hosts'
// clocks, as the tables have them.
Result<Waits> readWaits(const store::Database& trace, Lanes& lanes, const align::JobClock& clock);

}  // namespace sonde::engine::waits
