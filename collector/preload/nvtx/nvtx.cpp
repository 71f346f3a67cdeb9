// InitializeInjectionNvtx2: NVTX's loader calls it in the library that NVTX_INJECTION64_PATH names,
// once for every binary that embeds NVTX, before that binary's first NVTX call returns.
#include "collector/core/platform/hooks.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"
#include "collector/preload/nvtx/nvtx_events.h"
#include "collector/preload/nvtx/nvtx_tables.h"

#include <dlfcn.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdlib>

SONDE_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t getExportTable);
SONDE_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module);

namespace sonde::preload::nvtx {

namespace {

using Slots = NvtxFunctionPointer[kMaxFunction];

// The slots of one module in one copy of NVTX; older copies have fewer.
struct Table {
  NvtxFunctionTable slots;
  unsigned size;
};

Table tableOf(const NvtxExportTableCallbacks* callbacks, NvtxCallbackModule module) noexcept {
  Table table{nullptr, 0};
  if (callbacks->GetModuleFunctionTable(module, &table.slots, &table.size) == 0 ||
      table.slots == nullptr)
    return {nullptr, 0};
  return table;
}

NvtxFunctionPointer* slotOf(const Table& table, unsigned id) noexcept {
  return id < table.size ? table.slots[id] : nullptr;
}

void readSlots(const Table& table, const PatchList& list, Slots& out) noexcept {
  for (std::size_t at = 0; at < list.count; ++at) {
    const NvtxFunctionPointer* slot = slotOf(table, list.patches[at].id);
    out[list.patches[at].id] = slot == nullptr ? nullptr : *slot;
  }
}

// Puts Sonde's functions in front of those that the other tool has installed since `before`. Sonde
// remembers one function of the tool per slot. If the tool has separate functions for each copy of
// NVTX, its functions stay in place from the second copy on.
void install(const Table& table, const PatchList& list, const Slots& before) noexcept {
  for (std::size_t at = 0; at < list.count; ++at) {
    const Patch& patch = list.patches[at];
    NvtxFunctionPointer* slot = slotOf(table, patch.id);
    if (slot == nullptr || *slot == patch.function)
      continue;
    if (*slot != before[patch.id] && *slot != nullptr) {
      NvtxFunctionPointer known = nullptr;
      if (!gChained[list.module][patch.id].compare_exchange_strong(known, *slot) && known != *slot)
        continue;
    }
    *slot = patch.function;
  }
}

void restore(const Table& table, const PatchList& list, const Slots& before) noexcept {
  for (std::size_t at = 0; at < list.count; ++at) {
    if (NvtxFunctionPointer* slot = slotOf(table, list.patches[at].id))
      *slot = before[list.patches[at].id];
  }
}

// Returns the function `name` of the tool that NVTX_INJECTION64_PATH named before the recorder
// replaced it with Sonde; nullptr if there was none, or it was Sonde already.
void* otherTools(const char* name, void* own) noexcept {
  const char* path = std::getenv("SONDE_CHAIN_NVTX");
  if (path == nullptr || *path == '\0')
    return nullptr;
  void* library = dlopen(path, RTLD_LAZY);
  void* function = library == nullptr ? nullptr : dlsym(library, name);
  return function == own ? nullptr : function;
}

// Whether NVTX is among the sources of this recording. If not, NVTX's functions stay no-ops, as
// without a tool.
bool isSource() noexcept {
  return core::attached() &&
         (core::gSpool.session->probeMask >> static_cast<int>(wire::Probe::Nvtx) & 1) != 0;
}

bool initialize(NvtxGetExportTableFunc_t getExportTable) noexcept {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(getExportTable(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks)
    return false;
  const PatchList lists[] = {
      corePatches(), core2Patches(), cudaPatches(), cudaRtPatches(), syncPatches()};
  constexpr int kLists = sizeof lists / sizeof *lists;
  Table tables[kLists];
  Slots before[kLists] = {};
  for (int at = 0; at < kLists; ++at) {
    tables[at] = tableOf(callbacks, lists[at].module);
    readSlots(tables[at], lists[at], before[at]);
  }
  const auto other = reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(
      otherTools("InitializeInjectionNvtx2", reinterpret_cast<void*>(&InitializeInjectionNvtx2)));
  const bool otherRuns = other != nullptr && other(getExportTable) != 0;
  if (otherRuns)
    gChainActive.store(true, std::memory_order_relaxed);
  const bool own = isSource();
  for (int at = 0; at < kLists; ++at) {
    if (other != nullptr && !otherRuns)
      restore(tables[at], lists[at], before[at]);
    if (own)
      install(tables[at], lists[at], before[at]);
  }
  return own || otherRuns;
}

}  // namespace

}  // namespace sonde::preload::nvtx

SONDE_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t getExportTable) {
  return sonde::preload::nvtx::initialize(getExportTable) ? 1 : 0;
}

// NVTX calls it for each extension (payload schemas, counters, memory) that a program uses. Sonde
// records none of them; the other tool may. It always returns success: otherwise NVTX would report
// to the program that all its domains are disabled.
SONDE_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  const auto other = reinterpret_cast<NvtxExtInitializeInjectionFunc_t>(
      sonde::preload::nvtx::otherTools("InitializeInjectionNvtxExtension",
                                       reinterpret_cast<void*>(&InitializeInjectionNvtxExtension)));
  if (other != nullptr)
    other(module);
  return 1;
}
