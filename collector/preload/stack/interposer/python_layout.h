// Where CPython keeps what a function of its is called, by version: offsets in bytes, of builds for
// 64 bits. From the headers of CPython 3.8.18, 3.9.18, 3.10.13, 3.11.7, 3.12.1 and 3.13.0
// (Include/cpython, Include/internal/pycore_frame.h). Constants; no code.
#pragma once

#include <cstdint>

namespace sonde::preload::stack {

// How a frame is told that the interpreter's loop was entered for; those between were called by
// Python itself, without another turn of the C stack.
enum class PythonEntry : std::uint8_t {
  Every,  // each has its own
  Flag,   // a byte of the frame that is not 0
  Guard,  // the next frame is none: an owner on the C stack
};

struct PythonLayout {
  int minor;  // of 3.x
  // A thread's innermost frame: thread[state], or thread[state][cframe].
  std::uint16_t state;
  std::int16_t cframe;  // -1: directly
  // Of a frame.
  std::uint16_t code;
  std::uint16_t caller;
  PythonEntry entry;
  std::uint16_t entryByte;  // of Flag: itself; of Guard: the owner
  // Of a code object.
  std::uint16_t file;
  std::uint16_t name;  // qualified, where there is that
  std::uint16_t line;
  // Of a text: where its characters begin, when they are ASCII and when not.
  std::uint16_t ascii;
  std::uint16_t wide;
};

inline constexpr std::uint8_t kOwnedByCStack = 3;
inline constexpr std::uint16_t kObjectType = 8;
inline constexpr std::uint16_t kTextLength = 16;
inline constexpr std::uint16_t kTextState = 32;  // bits: 2 interned, 3 kind, 1 compact, 1 ascii

inline constexpr PythonLayout kPythonLayouts[] = {
    {8, 24, -1, 32, 24, PythonEntry::Every, 0, 104, 112, 40, 48, 72},
    {9, 24, -1, 32, 24, PythonEntry::Every, 0, 104, 112, 40, 48, 72},
    {10, 24, -1, 32, 24, PythonEntry::Every, 0, 104, 112, 40, 48, 72},
    {11, 56, 8, 32, 48, PythonEntry::Flag, 68, 112, 128, 72, 48, 72},
    {12, 56, 0, 0, 8, PythonEntry::Guard, 70, 112, 128, 68, 40, 56},
    {13, 72, -1, 0, 8, PythonEntry::Guard, 70, 112, 128, 68, 40, 56},
};

}  // namespace sonde::preload::stack
