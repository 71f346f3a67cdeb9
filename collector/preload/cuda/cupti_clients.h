// Entry points of CUPTI with which another tool takes CUPTI over; the tool gets Sonde's wrappers of
// them.
#pragma once

namespace sonde::preload::cuda {

// Whether `name` is one of these functions.
bool handsOver(const char* name) noexcept;

// A tool has looked up the function `name` and found `found`. Returns a wrapper that hands CUPTI
// over and then calls `found`. Returns nullptr if `found` is Sonde's own and there is no CUPTI. If
// `found` is from a second copy of CUPTI, hands CUPTI over now and returns `found`. Requires:
// handsOver(name).
void* inFrontOf(const char* name, void* found) noexcept;

// Whether the process's linked calls would find a CUPTI with this function.
bool isBehind(const char* name) noexcept;

}  // namespace sonde::preload::cuda
