// Names that a program gives to objects. The name of an OS thread becomes the thread's name. Any
// other name is stored with the process ("nvtx cuda stream 0x7f…" = the name); reports show it and
// the device probes find it there.
#pragma once

#include "collector/preload/nvtx/nvtx_text.h"

#include <cstdint>

namespace sonde::preload::nvtx {

void nameThing(const char* kind, std::uint64_t identifier, std::uint32_t name) noexcept;
void nameOsThread(std::uint32_t thread, std::uint32_t name) noexcept;
void nameResource(const nvtxResourceAttributes_t* attributes) noexcept;

}  // namespace sonde::preload::nvtx
