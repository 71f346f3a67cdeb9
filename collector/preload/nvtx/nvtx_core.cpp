// NVTX's module CORE: events of the default domain, categories, thread names.
#include "collector/preload/nvtx/nvtx_events.h"
#include "collector/preload/nvtx/nvtx_resources.h"
#include "collector/preload/nvtx/nvtx_tables.h"

#include <cstdint>

namespace sonde::preload::nvtx {
namespace {

template <typename Function>
Function other(NvtxCallbackIdCore id) noexcept {
  return chained<Function>(NVTX_CB_MODULE_CORE, id);
}

template <typename Text>
using MarkFunction = void (*)(const Text*);
template <typename Text>
using StartFunction = nvtxRangeId_t (*)(const Text*);
template <typename Text>
using PushFunction = int (*)(const Text*);
template <typename Text>
using NameFunction = void (*)(std::uint32_t, const Text*);

const nvtxEventAttributes_t* attributesOf(const nvtxEventAttributes_t* event) noexcept {
  return event;
}
const nvtxEventAttributes_t* attributesOf(const void*) noexcept {
  return nullptr;
}

// Event: const char, const wchar_t or nvtxEventAttributes_t.
template <typename Event, NvtxCallbackIdCore kId>
void onMark(const Event* event) {
  if (const auto next = other<MarkFunction<Event>>(kId))
    next(event);
  if (recording())
    mark(0, nameOf(event), attributesOf(event));
}

template <typename Event, NvtxCallbackIdCore kId>
nvtxRangeId_t onStart(const Event* event) {
  nvtxRangeId_t id = 0;
  if (const auto next = other<StartFunction<Event>>(kId))
    id = next(event);
  return recording() ? start(id, 0, nameOf(event), attributesOf(event)) : id;
}

template <typename Event, NvtxCallbackIdCore kId>
int onPush(const Event* event) {
  const auto next = other<PushFunction<Event>>(kId);
  const int level = next != nullptr ? next(event) : NVTX_NO_PUSH_POP_TRACKING;
  const int own = recording() ? push(0, nameOf(event), attributesOf(event)) : skipPush(0);
  return next != nullptr ? level : own;
}

void onEnd(nvtxRangeId_t id) {
  end(id);
  if (const auto next = other<nvtxRangeEnd_impl_fntype>(NVTX_CBID_CORE_RangeEnd);
      next != nullptr && !isOwnId(id))
    next(id);
}

int onPop() {
  const int own = pop(0);
  const auto next = other<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop);
  return next != nullptr ? next() : own;
}

template <typename Text, NvtxCallbackIdCore kId>
void onNameCategory(std::uint32_t category, const Text* name) {
  nameCategory(0, category, internText(name));
  if (const auto next = other<NameFunction<Text>>(kId))
    next(category, name);
}

template <typename Text, NvtxCallbackIdCore kId>
void onNameOsThread(std::uint32_t thread, const Text* name) {
  if (recording())
    nameOsThread(thread, internText(name));
  if (const auto next = other<NameFunction<Text>>(kId))
    next(thread, name);
}

#define SONDE_PATCH(handler, type, name)                                    \
  Patch {                                                                   \
    NVTX_CBID_CORE_##name, slotValue(&handler<type, NVTX_CBID_CORE_##name>) \
  }

}  // namespace

PatchList corePatches() noexcept {
  static const Patch list[] = {
      SONDE_PATCH(onMark, nvtxEventAttributes_t, MarkEx),
      SONDE_PATCH(onMark, char, MarkA),
      SONDE_PATCH(onMark, wchar_t, MarkW),
      SONDE_PATCH(onStart, nvtxEventAttributes_t, RangeStartEx),
      SONDE_PATCH(onStart, char, RangeStartA),
      SONDE_PATCH(onStart, wchar_t, RangeStartW),
      SONDE_PATCH(onPush, nvtxEventAttributes_t, RangePushEx),
      SONDE_PATCH(onPush, char, RangePushA),
      SONDE_PATCH(onPush, wchar_t, RangePushW),
      SONDE_PATCH(onNameCategory, char, NameCategoryA),
      SONDE_PATCH(onNameCategory, wchar_t, NameCategoryW),
      SONDE_PATCH(onNameOsThread, char, NameOsThreadA),
      SONDE_PATCH(onNameOsThread, wchar_t, NameOsThreadW),
      Patch{NVTX_CBID_CORE_RangeEnd, slotValue(&onEnd)},
      Patch{NVTX_CBID_CORE_RangePop, slotValue(&onPop)},
  };
  return {NVTX_CB_MODULE_CORE, list, sizeof list / sizeof *list};
}

}  // namespace sonde::preload::nvtx
