// Where the readers of waits put what they find. Within engine/waits; the database's thread.
#pragma once

#include "analysis/engine/waits/waits.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::engine::waits {

class WaitSink {
 public:
  WaitSink(Lanes& lanes, const align::JobClock& clock) : lanes_(lanes), clock_(clock) {}

  // Finds the host of each lane. Call before add().
  Result<void> readHosts(const store::Database& trace);

  // Takes times by the hosts' clocks. Drops waits between hosts whose times cannot be compared, and
  // impossible waits. These come from a damaged file, or from clocks that disagree. It counts those
  // that ended early.
  void add(Wait wait);
  void add(Meeting meeting);

  // Where the thread began to wait for something that was done at `end`. A call from `begin` to
  // `callEnd` requested it. The thread waits in that call, or in a later one that waits for
  // requests.
  std::int64_t waitsFrom(std::int64_t thread,
                         std::int64_t begin,
                         std::int64_t callEnd,
                         std::int64_t end) const;

  LaneIndex laneOfThread(std::int64_t id) const { return lanes_.ofThread(id); }
  LaneIndex laneOfStream(std::int64_t id) const { return find(lanes_.ofStream, id); }
  LaneIndex laneOfProcess(std::int64_t id) const { return find(lanes_.ofProcess, id); }
  Lanes& lanes() noexcept { return lanes_; }
  const align::JobClock& clock() const noexcept { return clock_; }
  // The job's time, of the clock of the lane's host. Call after readHosts().
  std::int64_t toJob(LaneIndex lane, std::int64_t ns) const {
    return clock_.toJob(hostOf_[lane], ns);
  }
  Waits take() noexcept { return std::move(found_); }

 private:
  static LaneIndex find(const std::unordered_map<std::int64_t, LaneIndex>& in, std::int64_t id) {
    const auto found = in.find(id);
    return found == in.end() ? kNoLane : found->second;
  }

  Lanes& lanes_;
  const align::JobClock& clock_;
  std::vector<std::int64_t> hostOf_;  // by lane: host.id
  Waits found_;
};

// Waits of threads: hand-offs, messages, bytes of sockets and pipes, and the start of processes.
Result<void> addThreadWaits(const store::Database& trace, WaitSink& sink);
// Waits of ranks that meet, by their threads or by their devices' kernels.
Result<void> addCollectiveWaits(const store::Database& trace, WaitSink& sink);
// Waits of devices for threads and for each other's streams, and of threads for devices.
Result<void> addDeviceWaits(const store::Database& trace, WaitSink& sink);
// Waits of threads of which the trace does not name the waker.
Result<void> followDrivers(const store::Database& trace, WaitSink& sink);

}  // namespace sonde::engine::waits
