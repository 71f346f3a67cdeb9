// Puts functions of Python in the place of the interpreter's own, in one thread's stack. A pure
// function.
#pragma once

#include "analysis/model/ids.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sonde::ingest {

// A call of native code.
struct NativeCall {
  model::FrameId frame{};
  const void* file = nullptr;  // that its code is from; nullptr: not known
  bool evaluates = false;      // it is the loop that runs functions of Python
  bool begins = false;         // what every thread begins with: "_start", "clone3", "main"
  bool recorder = false;       // of one of Sonde's own libraries
  bool standsIn = false;       // of Sonde's or CUDA's, and what a program calls by this name
  bool cuda = false;           // of CUDA's libraries
};

struct PythonCall {
  model::FrameId frame{};
  bool isEntry = false;  // native code has called it: the loop was entered for it
};

// All innermost first. A loop gives place to the functions that it runs, from the innermost to that
// for which it was entered. Other calls of the interpreter's file stay only where the thread was,
// so that what Python calls hangs below the function that calls it; and of what is further out than
// all Python nothing stays when it is but the interpreter's start. `complete`: no outer call is
// missing.
//
// Where there are more loops than functions to enter them for, the innermost have not begun theirs;
// where there are fewer, outer ones are missing, and the functions stay without.
std::vector<model::FrameId> mergePython(std::span<const NativeCall> native,
                                        std::span<const PythonCall> python,
                                        bool complete);

}  // namespace sonde::ingest
