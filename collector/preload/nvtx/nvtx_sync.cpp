// NVTX's module SYNC: a program reports waits for locks of its own (a spinlock, an atomic). The
// time from AcquireStart to Success or Failed becomes a wait slice of that name.
#define NVTX_NO_IMPL
#include "collector/core/emit.h"
#include "collector/preload/nvtx/nvtx_events.h"
#include "collector/preload/nvtx/nvtx_tables.h"

#include <nvtx3/nvToolsExtSync.h>

namespace sonde::preload::nvtx {
namespace {

template <typename Function>
Function other(NvtxCallbackIdSync id) noexcept {
  return chained<Function>(NVTX_CB_MODULE_SYNC, id);
}

using Handle = nvtx_nvtxSyncUser_t;

Handle onCreate(nvtxDomainHandle_t domain, const nvtx_nvtxSyncUserAttributes_t* untyped) {
  const auto next =
      other<nvtxDomainSyncUserCreate_fakeimpl_fntype>(NVTX_CBID_SYNC_DomainSyncUserCreate);
  if (chainActive() && next == nullptr)
    return nullptr;
  const auto* attributes = static_cast<const nvtxSyncUserAttributes_t*>(untyped);
  const std::uint32_t name = attributes != nullptr && attributes->size >= sizeof *attributes
                                 ? internMessage(attributes->messageType, attributes->message)
                                 : core::intern("unnamed");
  Handle handle = next != nullptr ? next(forOther(domain), untyped) : nullptr;
  return addString({name, wire::SliceKind::Wait, -1}, static_cast<nvtxStringHandle_t>(handle));
}

void onAcquireStart(Handle handle) {
  if (const auto next = other<nvtxDomainSyncUserAcquireStart_fakeimpl_fntype>(
          NVTX_CBID_SYNC_DomainSyncUserAcquireStart))
    next(handle);
  beginWait(nameOf(static_cast<nvtxStringHandle_t>(handle)));
}

void onAcquireSuccess(Handle handle) {
  endWait();
  if (const auto next = other<nvtxDomainSyncUserAcquireSuccess_fakeimpl_fntype>(
          NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess))
    next(handle);
}

void onAcquireFailed(Handle handle) {
  endWait();
  if (const auto next = other<nvtxDomainSyncUserAcquireFailed_fakeimpl_fntype>(
          NVTX_CBID_SYNC_DomainSyncUserAcquireFailed))
    next(handle);
}

}  // namespace

// Destroy and Releasing remain the other tool's: Sonde records nothing for them.
PatchList syncPatches() noexcept {
  static const Patch list[] = {
      {NVTX_CBID_SYNC_DomainSyncUserCreate, slotValue(&onCreate)},
      {NVTX_CBID_SYNC_DomainSyncUserAcquireStart, slotValue(&onAcquireStart)},
      {NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess, slotValue(&onAcquireSuccess)},
      {NVTX_CBID_SYNC_DomainSyncUserAcquireFailed, slotValue(&onAcquireFailed)},
  };
  return {NVTX_CB_MODULE_SYNC, list, sizeof list / sizeof *list};
}

}  // namespace sonde::preload::nvtx
