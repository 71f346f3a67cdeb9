// Where CPython keeps the names of its functions, by version: offsets in bytes, for 64-bit builds.
// From the headers of CPython 3.8.18, 3.9.18, 3.10.13, 3.11.7, 3.12.1 and 3.13.0 (Include/cpython,
// Include/internal/pycore_frame.h). Constants; no code.
#pragma once

#include <cstdint>

namespace sonde::wire {

// How to recognise a frame for which the interpreter's loop was entered. Python itself called the
// frames in between, without using the C stack.
enum class PythonEntry : std::uint8_t {
  Every,  // each frame entered the loop
  Flag,   // a byte of the frame is not 0
  Guard,  // the next frame is a dummy, owned by the C stack
};

struct PythonLayout {
  int minor;  // of 3.x
  // A thread's innermost frame: thread[state], or thread[state][cframe].
  std::uint16_t state;
  std::int16_t cframe;  // -1: directly
  // Offsets in a frame.
  std::uint16_t code;
  std::uint16_t caller;
  PythonEntry entry;
  std::uint16_t entryByte;  // for Flag: the flag; for Guard: the owner
  // Offsets in a code object.
  std::uint16_t file;
  std::uint16_t name;  // qualified, if the version has that
  std::uint16_t line;
  // Offsets of the characters in a text: ASCII and other.
  std::uint16_t ascii;
  std::uint16_t wide;
  // How to find the threads from outside: offsets of the first interpreter in _PyRuntime, of its
  // first thread, and of the next thread and the kernel's thread id in a thread. 0: this version
  // does not say.
  std::uint16_t interpreter;
  std::uint16_t threads;
  std::uint16_t nextThread;
  std::uint16_t nativeId;
};

inline constexpr std::uint8_t kOwnedByCStack = 3;
inline constexpr std::uint16_t kObjectType = 8;
inline constexpr std::uint16_t kTextLength = 16;
inline constexpr std::uint16_t kTextState = 32;  // bits: 2 interned, 3 kind, 1 compact, 1 ascii

inline constexpr PythonLayout kPythonLayouts[] = {
    {8, 24, -1, 32, 24, PythonEntry::Every, 0, 104, 112, 40, 48, 72, 0, 0, 0, 0},
    {9, 24, -1, 32, 24, PythonEntry::Every, 0, 104, 112, 40, 48, 72, 0, 0, 0, 0},
    {10, 24, -1, 32, 24, PythonEntry::Every, 0, 104, 112, 40, 48, 72, 0, 0, 0, 0},
    {11, 56, 8, 32, 48, PythonEntry::Flag, 68, 112, 128, 72, 48, 72, 40, 16, 8, 160},
    {12, 56, 0, 0, 8, PythonEntry::Guard, 70, 112, 128, 68, 40, 56, 40, 72, 8, 144},
    {13, 72, -1, 0, 8, PythonEntry::Guard, 70, 112, 128, 68, 40, 56, 0, 0, 0, 0},
};

}  // namespace sonde::wire
