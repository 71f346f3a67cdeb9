// Durations in the messages of rules. Plain function; any thread.
#pragma once

#include <string>

namespace sonde::rules {

// Three digits of milliseconds or seconds: "23.9 s". `ns` is not negative.
[[nodiscard]] std::string durationText(double ns);

}  // namespace sonde::rules
