// The Python functions that a thread is in, read from the interpreter's memory by the layout of its
// version. Memory that is not a code object or a text ends the walk. The only function of Python
// that is called is the one that finds the thread's state.
#pragma once

#include "collector/preload/stack/stack_hooks.h"

#include <cstddef>

namespace sonde::preload::stack {

// Deeper frames are left out.
inline constexpr std::uint32_t kMostPythonFrames = 256;

// Call once, after the libraries that the program needs at start have been loaded.
void findPython(const Hooks& hooks) noexcept;

// Size of the working memory.
inline constexpr std::size_t kPythonRoom = std::size_t{16} << 10U;

// Writes the calling thread's functions, innermost first, and returns their number. For a signal
// handler on any thread.
std::uint32_t readPythonFrames(char* room, wire::PythonFrame* to) noexcept;

}  // namespace sonde::preload::stack
