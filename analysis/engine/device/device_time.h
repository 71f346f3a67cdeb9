// How a device spent a stretch of time: computing, communicating, copying, several of these at
// once, or idle. Plain values and pure functions.
//
// Results are exact nanoseconds of unions: work of two streams at the same time counts once. The
// eight sets of kinds of work divide a window completely. So do compute, exposed communication,
// exposed copies and idle.
#pragma once

#include "analysis/engine/device/device_work.h"
#include "analysis/engine/intervals/intervals.h"

#include <array>
#include <cstdint>
#include <vector>

namespace sonde::engine::device {

// Sets of WorkKind, as bits: 1 << kind.
inline constexpr std::size_t kWorkSets = std::size_t{1} << kWorkKinds;
using WorkSet = std::uint8_t;
constexpr WorkSet setOf(WorkKind kind) noexcept {
  return static_cast<WorkSet>(1U << static_cast<unsigned>(kind));
}

// A stretch with a constant set of kinds. Neighbours differ; idle time has no entry.
struct Activity {
  metrics::Interval time;
  WorkSet set = 0;
};

// Covers all streams of a device, ascending. O(n log n).
std::vector<Activity> activityOf(const DeviceWork& device);

struct DeviceTime {
  std::int64_t windowNs = 0;
  std::array<std::int64_t, kWorkSets> setNs{};  // when exactly these kinds ran; sum to the window

  // Unions: other kinds may run at the same time.
  std::int64_t computeNs() const noexcept { return unionOf(WorkKind::Compute); }
  std::int64_t commNs() const noexcept { return unionOf(WorkKind::Communication); }
  std::int64_t copyNs() const noexcept { return unionOf(WorkKind::Copy); }
  // These three and compute sum to the window.
  std::int64_t exposedCommNs() const noexcept;  // not while computing
  std::int64_t exposedCopyNs() const noexcept;  // neither computing nor communicating
  std::int64_t idleNs() const noexcept { return setNs[0]; }
  std::int64_t hiddenCommNs() const noexcept { return commNs() - exposedCommNs(); }

 private:
  std::int64_t unionOf(WorkKind kind) const noexcept;
};

// O(log n + activities in the window).
DeviceTime timeIn(const std::vector<Activity>& activity, metrics::Interval window);
// The sum over `windows`, which are in normal form.
DeviceTime timeIn(const std::vector<Activity>& activity, const metrics::Intervals& windows);

}  // namespace sonde::engine::device
