// Why a stream did nothing: each instant in which none of its work ran belongs to one cause, so the
// causes sum to all of its idle time. Plain values and pure functions.
//
// A gap ends where the next piece of work begins, and is put down to what that one was not ready
// for, in this order: the host had not called its launch; the call was running; the stream waited
// for an event; the device was busy for other streams; and what is left is the time that a device
// takes from one piece of work to the next. What no launch is known of, and what comes after the
// last piece of work, are causes of their own.
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
  Event,      // it waited for an event that another stream was to reach
  Busy,       // launched and free to run, while the device worked for other streams
  Gap,        // launched, free to run, and the device did nothing: from one kernel to the next
  Unknown,    // what launched it was not recorded
  NoMore,     // nothing came after
};
inline constexpr std::size_t kIdleCauses = 7;
std::string_view word(IdleCause cause) noexcept;

struct IdleSpan {
  metrics::Interval time;
  IdleCause cause = IdleCause::Unknown;
};

// The idle time of each of the device's streams in `window`: ascending, without overlaps.
// `activity`: of the device.
std::vector<std::vector<IdleSpan>> idleOf(const DeviceWork& device,
                                          const std::vector<Activity>& activity,
                                          metrics::Interval window);

struct StreamIdle {
  std::int64_t windowNs = 0;
  std::array<std::int64_t, kIdleCauses> causeNs{};
  std::int64_t idleNs() const noexcept;  // the sum; what is not, is busy
};

// `windows`: in normal form.
StreamIdle idleIn(const std::vector<IdleSpan>& spans, const metrics::Intervals& windows);

}  // namespace sonde::engine::device
