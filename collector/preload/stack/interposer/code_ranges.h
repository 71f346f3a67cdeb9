// Which code is in this process. Any thread; not in a signal handler.
#pragma once

#include <cstddef>

namespace sonde::preload::stack {

// Calls define() with lines of /proc/self/maps, some at a time, until all of those with code have
// been told.
void describeCode(void (*define)(const char* lines, std::size_t length)) noexcept;

// In a forked child, whose parent's other threads may have been at it.
void forgetDescribing() noexcept;

}  // namespace sonde::preload::stack
