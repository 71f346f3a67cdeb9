// How the work of one stream came to begin: when its launch had reached it, and when what was
// before it was done. Plain values.
//
// A launch takes its time to reach a device, also while that is busy: that time does not begin with
// the end of the work before.
#pragma once

#include "analysis/engine/waits/wait_sink.h"
#include "analysis/engine/waits/waits.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::waits {

struct DeviceLaunch {
  LaneIndex thread;
  bool hasReturned;    // the call, when the work began
  std::int64_t from;   // then its end, else its begin
  std::int64_t after;  // the end of the stream's work before it, or Wait::kStart
  std::int64_t begin;  // of the work

  std::int64_t passedNs() const noexcept { return begin > from ? begin - from : 0; }
};

// What launches take at least to reach devices, in ns: what nine of ten do that find their stream
// idle. The others may have waited for more than that.
class LaunchLatency {
 public:
  void add(const std::vector<DeviceLaunch>& launches);
  std::int64_t ns(bool hasReturned);  // 0: no stream was ever idle

 private:
  std::vector<std::int64_t> idle_[2];  // by whether the call had returned
};

// That `stream` waited for each of them.
void addLaunchWaits(LaneIndex stream,
                    const std::vector<DeviceLaunch>& launches,
                    LaunchLatency& latency,
                    WaitSink& sink);

}  // namespace sonde::engine::waits
