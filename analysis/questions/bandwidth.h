// Parses bandwidths from a command line. Plain functions; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string_view>

namespace sonde::questions {

// Returns bits per second, above 0. A number and a unit: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s,
// with or without "/s", or kB/s, MB/s, GB/s. Ignores case and a space between.
Result<std::int64_t> parseBandwidth(std::string_view text);

}  // namespace sonde::questions
