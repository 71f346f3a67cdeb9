// What a device did with a stretch of time: computing, communicating, copying, or nothing, and
// which of them at once. Plain values and pure functions.
//
// Everything is exact: nanoseconds of unions, so that what two streams do at once counts once. The
// eight sets of what was going on at an instant divide a window completely, and so do compute,
// exposed communication, exposed copies and idle.
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

// What was going on, from one instant to another; neighbours differ, and where nothing was there is
// none.
struct Activity {
  metrics::Interval time;
  WorkSet set = 0;
};

// Of all streams of a device, ascending. O(n log n).
std::vector<Activity> activityOf(const DeviceWork& device);

struct DeviceTime {
  std::int64_t windowNs = 0;
  std::array<std::int64_t, kWorkSets> setNs{};  // that exactly these went on; sum to the window

  // Unions: whatever else went on.
  std::int64_t computeNs() const noexcept { return unionOf(WorkKind::Compute); }
  std::int64_t commNs() const noexcept { return unionOf(WorkKind::Communication); }
  std::int64_t copyNs() const noexcept { return unionOf(WorkKind::Copy); }
  // With compute they sum to the window.
  std::int64_t exposedCommNs() const noexcept;  // not while computing
  std::int64_t exposedCopyNs() const noexcept;  // nor communicating
  std::int64_t idleNs() const noexcept { return setNs[0]; }
  std::int64_t hiddenCommNs() const noexcept { return commNs() - exposedCommNs(); }

 private:
  std::int64_t unionOf(WorkKind kind) const noexcept;
};

// O(log n + what lies in the window).
DeviceTime timeIn(const std::vector<Activity>& activity, metrics::Interval window);
// The sum over these, which are in normal form.
DeviceTime timeIn(const std::vector<Activity>& activity, const metrics::Intervals& windows);

}  // namespace sonde::engine::device
