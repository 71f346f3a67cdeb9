// NVTX's module CORE2: domains with their own events, categories, registered strings and resources.
#include "collector/preload/nvtx/nvtx_events.h"
#include "collector/preload/nvtx/nvtx_resources.h"
#include "collector/preload/nvtx/nvtx_tables.h"

#include <cstdint>

namespace sonde::preload::nvtx {
namespace {

template <typename Function>
Function other(NvtxCallbackIdCore2 id) noexcept {
  return chained<Function>(NVTX_CB_MODULE_CORE2, id);
}

void onMark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  if (const auto next = other<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx))
    next(forOther(domain), event);
  if (recording())
    mark(domainOf(domain), nameOf(event), event);
}

nvtxRangeId_t onStart(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  nvtxRangeId_t id = 0;
  if (const auto next =
          other<nvtxDomainRangeStartEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangeStartEx))
    id = next(forOther(domain), event);
  return recording() ? start(id, domainOf(domain), nameOf(event), event) : id;
}

void onEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  end(id);
  const auto next = other<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd);
  if (next != nullptr && !isOwnId(id))
    next(forOther(domain), id);
}

int onPush(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const auto next = other<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx);
  const int level = next != nullptr ? next(forOther(domain), event) : NVTX_NO_PUSH_POP_TRACKING;
  const int own =
      recording() ? push(domainOf(domain), nameOf(event), event) : skipPush(domainOf(domain));
  return next != nullptr ? level : own;
}

int onPop(nvtxDomainHandle_t domain) {
  const int own = pop(domainOf(domain));
  const auto next = other<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop);
  return next != nullptr ? next(forOther(domain)) : own;
}

nvtxResourceHandle_t onResourceCreate(nvtxDomainHandle_t domain,
                                      nvtxResourceAttributes_t* attributes) {
  if (recording())
    nameResource(attributes);
  const auto next =
      other<nvtxDomainResourceCreate_impl_fntype>(NVTX_CBID_CORE2_DomainResourceCreate);
  return next != nullptr ? next(forOther(domain), attributes) : nullptr;
}

void onResourceDestroy(nvtxResourceHandle_t resource) {
  if (const auto next =
          other<nvtxDomainResourceDestroy_impl_fntype>(NVTX_CBID_CORE2_DomainResourceDestroy))
    next(resource);
}

template <typename Text, NvtxCallbackIdCore2 kId>
void onNameCategory(nvtxDomainHandle_t domain, std::uint32_t category, const Text* name) {
  nameCategory(domainOf(domain), category, internText(name));
  if (const auto next = other<void (*)(nvtxDomainHandle_t, std::uint32_t, const Text*)>(kId))
    next(forOther(domain), category, name);
}

template <typename Text, NvtxCallbackIdCore2 kId>
nvtxStringHandle_t onRegisterString(nvtxDomainHandle_t domain, const Text* text) {
  const auto next = other<nvtxStringHandle_t (*)(nvtxDomainHandle_t, const Text*)>(kId);
  // If the tool does not support registered strings, it must not get one of Sonde's in an event.
  if (chainActive() && next == nullptr)
    return nullptr;
  return addString(nameOf(text), next != nullptr ? next(forOther(domain), text) : nullptr);
}

template <typename Text, NvtxCallbackIdCore2 kId>
nvtxDomainHandle_t onCreate(const Text* name) {
  const auto next = other<nvtxDomainHandle_t (*)(const Text*)>(kId);
  return addDomain(internText(name), next != nullptr ? next(name) : nullptr);
}

// Sonde keeps the domain: its events may still be read, and a new domain with the same name
// continues it.
void onDestroy(nvtxDomainHandle_t domain) {
  if (const auto next = other<nvtxDomainDestroy_impl_fntype>(NVTX_CBID_CORE2_DomainDestroy))
    next(forOther(domain));
}

void onInitialize(const void* reserved) {
  if (const auto next = other<nvtxInitialize_impl_fntype>(NVTX_CBID_CORE2_Initialize))
    next(reserved);
}

#define SONDE_PATCH(handler, name)              \
  Patch {                                       \
    NVTX_CBID_CORE2_##name, slotValue(&handler) \
  }
#define SONDE_TEXT_PATCH(handler, type, name)                                 \
  Patch {                                                                     \
    NVTX_CBID_CORE2_##name, slotValue(&handler<type, NVTX_CBID_CORE2_##name>) \
  }

}  // namespace

PatchList core2Patches() noexcept {
  static const Patch list[] = {
      SONDE_PATCH(onMark, DomainMarkEx),
      SONDE_PATCH(onStart, DomainRangeStartEx),
      SONDE_PATCH(onEnd, DomainRangeEnd),
      SONDE_PATCH(onPush, DomainRangePushEx),
      SONDE_PATCH(onPop, DomainRangePop),
      SONDE_PATCH(onResourceCreate, DomainResourceCreate),
      SONDE_PATCH(onResourceDestroy, DomainResourceDestroy),
      SONDE_TEXT_PATCH(onNameCategory, char, DomainNameCategoryA),
      SONDE_TEXT_PATCH(onNameCategory, wchar_t, DomainNameCategoryW),
      SONDE_TEXT_PATCH(onRegisterString, char, DomainRegisterStringA),
      SONDE_TEXT_PATCH(onRegisterString, wchar_t, DomainRegisterStringW),
      SONDE_TEXT_PATCH(onCreate, char, DomainCreateA),
      SONDE_TEXT_PATCH(onCreate, wchar_t, DomainCreateW),
      SONDE_PATCH(onDestroy, DomainDestroy),
      SONDE_PATCH(onInitialize, Initialize),
  };
  return {NVTX_CB_MODULE_CORE2, list, sizeof list / sizeof *list};
}

}  // namespace sonde::preload::nvtx
