// Why the work of a stream began when it did: its launch had reached the device, and the work
// before it was done. Plain values.
//
// A launch takes its time to reach a device also while the device is busy. That time does not start
// at the end of the previous work.
#pragma once

#include "analysis/engine/waits/wait_sink.h"
#include "analysis/engine/waits/waits.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::waits {

struct DeviceLaunch {
  LaneIndex thread;
  bool hasReturned;    // the call had returned when the work began
  std::int64_t from;   // the call's end if it had returned, else its begin
  std::int64_t after;  // the end of the stream's previous work, or Wait::kStart
  std::int64_t begin;  // of the work

  std::int64_t passedNs() const noexcept { return begin > from ? begin - from : 0; }
};

// The least time in ns that launches take to reach a device: 90 % of those that find their stream
// idle take this long. The others may have waited for more.
class LaunchLatency {
 public:
  void add(const std::vector<DeviceLaunch>& launches);
  std::int64_t ns(bool hasReturned);  // 0: no stream was ever idle

 private:
  std::vector<std::int64_t> idle_[2];  // by whether the call had returned
};

// Adds `stream`'s wait for each launch.
void addLaunchWaits(LaneIndex stream,
                    const std::vector<DeviceLaunch>& launches,
                    LaunchLatency& latency,
                    WaitSink& sink);

}  // namespace sonde::engine::waits
