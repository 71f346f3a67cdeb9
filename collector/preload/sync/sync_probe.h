// The `sync` probe's share of this library. Any thread; keeps errno.
#pragma once

#include <cstdint>

namespace sonde::preload {

// The calling thread was in `call`, which may have blocked, and moved nothing that another probe
// records. What took no more than microseconds has not waited.
void notePause(const char* call, std::uint64_t beginTicks, std::uint64_t endTicks) noexcept;

}  // namespace sonde::preload
