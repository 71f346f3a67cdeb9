// Calls a plugin's code and lets none of its C++ exceptions out. Any thread; keeps errno.
#pragma once

#include <cstddef>

namespace sonde::preload::plugin {

// What a callback threw.
struct Thrown {
  bool any = false;
  char what[160] = {};  // of a std::exception; else empty
};

// Runs `call(argument)`. A thread that is cancelled in there unwinds as it would anyway.
Thrown guardedCall(void (*call)(void*), void* argument);

}  // namespace sonde::preload::plugin
