// Replaces the interpreter's frames by Python functions in one thread's stack. A pure function.
#pragma once

#include "analysis/model/ids.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sonde::ingest {

// A native call.
struct NativeCall {
  model::FrameId frame{};
  const void* file = nullptr;  // file of its code; nullptr: unknown
  bool evaluates = false;      // it is the loop that runs Python functions
  bool begins = false;         // a start function of threads: "_start", "clone3", "main"
  bool recorder = false;       // in one of Sonde's own libraries
  bool standsIn = false;       // in Sonde's or CUDA's library, under a name that programs call
  bool cuda = false;           // in CUDA's libraries
};

struct PythonCall {
  model::FrameId frame{};
  bool isEntry = false;  // called by native code: a loop was entered for it
};

// All lists are innermost first. Each loop is replaced by the functions that it runs, from the
// innermost to the one for which it was entered. Other calls in the interpreter's file only stay at
// the innermost place, so that native callees hang below the Python function that calls them.
// Frames outside of all Python are dropped if they are only the interpreter's start. `complete`: no
// outer call is missing.
//
// If there are more loops than entered functions, the innermost loops have not begun theirs. If
// there are fewer, outer loops are missing, and the functions stay without them.
std::vector<model::FrameId> mergePython(std::span<const NativeCall> native,
                                        std::span<const PythonCall> python,
                                        bool complete);

}  // namespace sonde::ingest
