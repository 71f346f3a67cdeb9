// Names that a program gives to things: an OS thread's becomes the thread's name, any other is kept
// with the process
// ("nvtx cuda stream 0x7f…" = the name), where reports show it and the device probes find it.
#pragma once

#include "collector/preload/nvtx/nvtx_text.h"

#include <cstdint>

namespace sonde::preload::nvtx {

void nameThing(const char* kind, std::uint64_t identifier, std::uint32_t name) noexcept;
void nameOsThread(std::uint32_t thread, std::uint32_t name) noexcept;
void nameResource(const nvtxResourceAttributes_t* attributes) noexcept;

}  // namespace sonde::preload::nvtx
