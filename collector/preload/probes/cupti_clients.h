// CUPTI's functions by which another tool takes CUPTI over, as the tool gets them.
#pragma once

namespace sonde::preload::cuda {

// What stands in front of the function `name` of CUPTI for a tool that has looked it up by hand as
// `found`; `found` itself when nothing does.
void* inFrontOf(const char* name, void* found) noexcept;

}  // namespace sonde::preload::cuda
