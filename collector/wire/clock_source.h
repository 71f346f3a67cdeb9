// Decides which clock a process stamps its records with. The library uses the decision, and the
// recorder uses it to predict the library's choice.
#pragma once

#include <string_view>

namespace sonde::wire {

// The kernel writes the name of its own clock source here.
inline constexpr const char* kClockSourcePath =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";

// Whether ticks are the processor's time-stamp counter. They are only if the kernel itself uses it
// as its clock, which it does once it has found the counter invariant ("tsc-early": not yet known).
// `clockSource`: the first line of kClockSourcePath, empty if it cannot be read.
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
