// A tool that was NVTX's injection library before Sonde took its place (SONDE_CHAIN_NVTX). It is
// loaded and initialised first. The functions that it installs in NVTX's tables are kept here.
// Sonde's functions call them, so the tool sees everything that it would have seen. Opaque handles
// (domains, strings, resources) are then the tool's.
#pragma once

#include <atomic>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

namespace sonde::preload::nvtx {

inline constexpr unsigned kMaxModule = NVTX_CB_MODULE_SIZE;
inline constexpr unsigned kMaxFunction = 16;

inline std::atomic<NvtxFunctionPointer> gChained[kMaxModule][kMaxFunction];
inline std::atomic<bool> gChainActive{false};

// The other tool's function; nullptr if it has none.
template <typename Function>
Function chained(NvtxCallbackModule module, unsigned id) noexcept {
  return reinterpret_cast<Function>(gChained[module][id].load(std::memory_order_acquire));
}

// Whether there is such a tool and it works.
inline bool chainActive() noexcept {
  return gChainActive.load(std::memory_order_relaxed);
}

// The function to install in one slot of NVTX's tables.
struct Patch {
  unsigned id;
  NvtxFunctionPointer function;
};

template <typename Function>
NvtxFunctionPointer slotValue(Function* function) noexcept {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace sonde::preload::nvtx
