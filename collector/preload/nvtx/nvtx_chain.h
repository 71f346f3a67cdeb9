// A tool that was to be NVTX's injection library before Sonde took its place (SONDE_CHAIN_NVTX). It
// is loaded and initialised first; what it put into NVTX's tables is kept here and called from
// Sonde's own functions, so that it sees all that it would have seen. Opaque handles (domains,
// strings, resources) are then the tool's.
#pragma once

#include <atomic>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

namespace sonde::preload::nvtx {

inline constexpr unsigned kMaxModule = NVTX_CB_MODULE_SIZE;
inline constexpr unsigned kMaxFunction = 16;

inline std::atomic<NvtxFunctionPointer> gChained[kMaxModule][kMaxFunction];
inline std::atomic<bool> gChainActive{false};

// The other tool's function, nullptr when it has none.
template <typename Function>
Function chained(NvtxCallbackModule module, unsigned id) noexcept {
  return reinterpret_cast<Function>(gChained[module][id].load(std::memory_order_acquire));
}

// Whether there is such a tool and it works.
inline bool chainActive() noexcept {
  return gChainActive.load(std::memory_order_relaxed);
}

// What one slot of NVTX's tables is to hold.
struct Patch {
  unsigned id;
  NvtxFunctionPointer function;
};

template <typename Function>
NvtxFunctionPointer slotValue(Function* function) noexcept {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace sonde::preload::nvtx
