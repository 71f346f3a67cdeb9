// The code that is mapped in this process. Any thread; not in a signal handler.
#pragma once

#include <cstddef>

namespace sonde::preload::stack {

// Calls define() with lines of /proc/self/maps, several at a time, until it has passed all lines
// with code.
void describeCode(void (*define)(const char* lines, std::size_t length)) noexcept;

// Call in a forked child: another thread of the parent may have been describing the code.
void forgetDescribing() noexcept;

}  // namespace sonde::preload::stack
