// CUPTI's functions by which another tool takes CUPTI over, as the tool gets them.
#pragma once

namespace sonde::preload::cuda {

// Whether `name` is one of them.
bool handsOver(const char* name) noexcept;

// What a tool gets that has found the function `name` as `found` by hand: one that hands CUPTI over
// and goes on to `found`; nullptr where `found` is Sonde's own and no CUPTI is. With a second copy
// of CUPTI it is handed over now, and the tool gets `found`.
// Requires: handsOver(name).
void* inFrontOf(const char* name, void* found) noexcept;

// Whether there is a CUPTI with this function for the process' linked calls.
bool isBehind(const char* name) noexcept;

}  // namespace sonde::preload::cuda
