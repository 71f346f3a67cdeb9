// Which clock a process stamps its records with: one decision for the library, which makes it, and
// for the recorder, which says what it will be.
#pragma once

#include <string_view>

namespace sonde::wire {

// What the kernel calls the clock that it keeps time by.
inline constexpr const char* kClockSourcePath =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";

// Whether ticks are the processor's time-stamp counter: only where the kernel itself keeps time by
// it, which it does once it has found it invariant ("tsc-early": it is still finding out).
// `clockSource`: the first line of kClockSourcePath, empty where it cannot be read.
#if defined(__x86_64__)
constexpr bool trustsTsc(std::string_view clockSource) noexcept {
  return clockSource == "tsc";
}
#else
constexpr bool trustsTsc(std::string_view) noexcept {
  return false;
}
#endif

}  // namespace sonde::wire
