// The part of the `sync` probe in this library. Any thread; keeps errno.
#pragma once

#include <cstdint>

namespace sonde::preload {

// Records a pause: the calling thread was in `call`, which may have blocked and moved nothing that
// another probe records. A call of only a few microseconds has not waited.
void notePause(const char* call, std::uint64_t beginTicks, std::uint64_t endTicks) noexcept;

}  // namespace sonde::preload
