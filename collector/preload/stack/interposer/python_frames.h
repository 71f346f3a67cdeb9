// The functions of Python that a thread is in, read from the interpreter's memory by its version's
// layout. What is no code object there, or no text, ends it; nothing is called but what finds the
// thread's state.
#pragma once

#include "collector/preload/stack/stack_hooks.h"

#include <cstddef>

namespace sonde::preload::stack {

// Deeper ones are cut.
inline constexpr std::uint32_t kMostPythonFrames = 256;

// Once, when libraries are loaded that the program needs from its beginning.
void findPython(const Hooks& hooks) noexcept;

// Bytes to work in.
inline constexpr std::size_t kPythonRoom = std::size_t{16} << 10U;

// The calling thread's, innermost first; how many. Of a signal handler, any thread.
std::uint32_t readPythonFrames(char* room, wire::PythonFrame* to) noexcept;

}  // namespace sonde::preload::stack
