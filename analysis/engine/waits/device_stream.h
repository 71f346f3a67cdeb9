// The work of one stream of a device, and its waits for other streams, in the order in which
// threads put them there. Plain values. Within engine/waits.
#pragma once

#include "analysis/engine/waits/device_launches.h"
#include "analysis/engine/waits/lanes.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::waits {

// A stream has done its work up to a time.
struct StreamDone {
  LaneIndex lane;
  std::int64_t ns;
};

class DeviceStream {
 public:
  struct Work {
    std::int64_t launch;  // by the host's clock; the work's own begin if unknown
    std::int64_t begin;
    std::int64_t after;  // the end of the stream's previous work, or Wait::kStart
    std::int64_t until;  // when it and all before it are done
  };

  DeviceStream(LaneIndex lane, std::int64_t process, std::int64_t device)
      : lane_(lane), process_(process), device_(device) {}

  LaneIndex lane() const noexcept { return lane_; }
  std::int64_t process() const noexcept { return process_; }
  std::int64_t device() const noexcept { return device_; }
  std::vector<DeviceLaunch>& launches() noexcept { return launches_; }

  // Requires: ordered by begin. Returns when the work before was done.
  std::int64_t add(std::int64_t launch, std::int64_t begin, std::int64_t end);

  // Work launched after `ns` waits for `what`. Requires: ordered by time, after all work was added.
  void addWait(std::int64_t ns, const std::vector<StreamDone>& what);

  // When all work launched before `ns` was done; nullopt: there was no such work.
  std::optional<std::int64_t> doneBefore(std::int64_t ns) const;

  // The same, and what the stream had been made to wait for since that work was launched: all that
  // an event recorded at `ns` stands for. At most one entry for each stream.
  std::vector<StreamDone> needsAt(std::int64_t ns) const;

  // The first work that was launched after `ns`; nullptr: none.
  const Work* nextAfter(std::int64_t ns) const;

  // The end of the last work that ended in (after, until].
  std::optional<std::int64_t> lastEndIn(std::int64_t after, std::int64_t until) const;

 private:
  // The waits of the stream after a call, since its last launch.
  struct Pending {
    std::int64_t ns;
    std::vector<StreamDone> what;
  };

  std::vector<Work>::const_iterator firstAfter(std::int64_t ns) const;
  // The last one by `ns`, if no work was launched between it and `ns`.
  const Pending* pendingAt(std::int64_t ns) const;

  LaneIndex lane_;
  std::int64_t process_;
  std::int64_t device_;
  std::vector<Work> works_;
  std::vector<Pending> pending_;
  std::vector<DeviceLaunch> launches_;
};

}  // namespace sonde::engine::waits
