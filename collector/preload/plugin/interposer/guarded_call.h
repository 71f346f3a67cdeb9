// Calls a plugin's code and catches all its C++ exceptions. Any thread; keeps errno.
#pragma once

#include <cstddef>

namespace sonde::preload::plugin {

// The exception of a callback.
struct Thrown {
  bool any = false;
  char what[160] = {};  // the text of a std::exception; else empty
};

// Runs `call(argument)`. If the thread is cancelled in it, it unwinds as usual.
Thrown guardedCall(void (*call)(void*), void* argument);

}  // namespace sonde::preload::plugin
