// Why a stream was idle. Each idle instant has exactly one cause, so the causes sum to the stream's
// idle time. Plain values and pure functions.
//
// A gap ends where the next piece of work begins. Its causes are the conditions that this work
// still lacked, in this order: the host had not called its launch; the call was running; the stream
// waited for an event; the device was busy for other streams. The rest is the device's time between
// two pieces of work. Work without a known launch, and the time after the last work, have own
// causes.
#pragma once

#include "analysis/engine/device/device_time.h"
#include "analysis/engine/device/device_work.h"
#include "analysis/engine/intervals/intervals.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sonde::engine::device {

enum class IdleCause : std::uint8_t {
  Host,       // the host had not launched it yet
  Launching,  // the launching call had not returned
  Event,      // it waited for an event on another stream
  Busy,       // launched and ready, while the device worked for other streams
  Gap,        // launched and ready, and the device was idle: time between two kernels
  Unknown,    // the launch was not recorded
  NoMore,     // no work followed
};
inline constexpr std::size_t kIdleCauses = 7;
std::string_view word(IdleCause cause) noexcept;

struct IdleSpan {
  metrics::Interval time;
  IdleCause cause = IdleCause::Unknown;
};

// The idle spans of each of the device's streams in `window`: ascending, without overlaps.
// `activity`: of the device.
std::vector<std::vector<IdleSpan>> idleOf(const DeviceWork& device,
                                          const std::vector<Activity>& activity,
                                          metrics::Interval window);

struct StreamIdle {
  std::int64_t windowNs = 0;
  std::array<std::int64_t, kIdleCauses> causeNs{};
  std::int64_t idleNs() const noexcept;  // the sum; the rest of the window is busy
};

// `windows`: in normal form.
StreamIdle idleIn(const std::vector<IdleSpan>& spans, const metrics::Intervals& windows);

}  // namespace sonde::engine::device
