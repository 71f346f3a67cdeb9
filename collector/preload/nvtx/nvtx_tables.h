// Sonde's functions for NVTX's tables, one list per module.
#pragma once

#include "collector/preload/nvtx/nvtx_chain.h"

#include <cstddef>

namespace sonde::preload::nvtx {

struct PatchList {
  NvtxCallbackModule module;
  const Patch* patches;
  std::size_t count;
};

PatchList corePatches() noexcept;   // nvtx_core.cpp: the default domain
PatchList core2Patches() noexcept;  // nvtx_core2.cpp: domains
PatchList
cudaPatches() noexcept;  // nvtx_resources.cpp: names of devices, contexts, streams, events
PatchList cudaRtPatches() noexcept;
PatchList syncPatches() noexcept;  // nvtx_sync.cpp: waits for a program's own locks

}  // namespace sonde::preload::nvtx
