#include "collector/preload/nvtx/nvtx_resources.h"

#include "collector/core/emit.h"
#include "collector/preload/nvtx/nvtx_events.h"
#include "collector/preload/nvtx/nvtx_tables.h"

#include <cstddef>
#include <cstring>

namespace sonde::preload::nvtx {
namespace {

constexpr char kCudaDevice[] = "cuda device";
constexpr char kCudaContext[] = "cuda context";
constexpr char kCudaStream[] = "cuda stream";
constexpr char kCudaEvent[] = "cuda event";
constexpr char kRtDevice[] = "cudart device";
constexpr char kRtStream[] = "cudart stream";
constexpr char kRtEvent[] = "cudart event";

std::uint64_t numberOf(int device) noexcept {
  return static_cast<std::uint64_t>(device);
}
std::uint64_t numberOf(void* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}

// One of nvtxName{Cu,Cuda}{Device,Context,Stream,Event}{A,W}.
template <NvtxCallbackModule kModule,
          unsigned kId,
          const char* kKind,
          typename Thing,
          typename Text>
void onName(Thing thing, const Text* name) {
  if (recording())
    nameThing(kKind, numberOf(thing), internText(name));
  if (const auto next = chained<void (*)(Thing, const Text*)>(kModule, kId))
    next(thing, name);
}

template <unsigned kId, const char* kKind, typename Thing, typename Text>
Patch cudaPatch() noexcept {
  return {kId, slotValue(&onName<NVTX_CB_MODULE_CUDA, kId, kKind, Thing, Text>)};
}

template <unsigned kId, const char* kKind, typename Thing, typename Text>
Patch cudaRtPatch() noexcept {
  return {kId, slotValue(&onName<NVTX_CB_MODULE_CUDART, kId, kKind, Thing, Text>)};
}

const char* kindOf(std::uint32_t type) noexcept {
  switch (type) {
    case NVTX_RESOURCE_TYPE_GENERIC_POINTER:
      return "pointer";
    case NVTX_RESOURCE_TYPE_GENERIC_HANDLE:
      return "handle";
    case NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX:
      return "pthread";
    default:
      return "resource";
  }
}

}  // namespace

void nameThing(const char* kind, std::uint64_t identifier, std::uint32_t name) noexcept {
  constexpr char kPrefix[] = "nvtx ";
  char key[64];
  std::memcpy(key, kPrefix, sizeof kPrefix - 1);
  std::size_t length = sizeof kPrefix - 1;
  const std::size_t kindLength = std::strlen(kind);
  std::memcpy(key + length, kind, kindLength);
  length += kindLength;
  std::memcpy(key + length, " 0x", 3);
  length += 3;
  int shift = 60;
  while (shift > 0 && identifier >> shift == 0)
    shift -= 4;
  for (; shift >= 0; shift -= 4)
    key[length++] = "0123456789abcdef"[identifier >> shift & 0xf];
  core::emitProcessText(core::intern(key, length), name);
}

void nameOsThread(std::uint32_t thread, std::uint32_t name) noexcept {
  if (!core::nameThread(static_cast<std::int32_t>(thread), name))
    nameThing("thread", thread, name);
}

void nameResource(const nvtxResourceAttributes_t* attributes) noexcept {
  if (attributes == nullptr || attributes->size < sizeof *attributes)
    return;
  const std::uint32_t name = internMessage(attributes->messageType, attributes->message);
  const auto type = static_cast<std::uint32_t>(attributes->identifierType);
  if (type == NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE)
    nameOsThread(static_cast<std::uint32_t>(attributes->identifier.ullValue), name);
  else
    nameThing(kindOf(type), attributes->identifier.ullValue, name);
}

PatchList cudaPatches() noexcept {
  static const Patch list[] = {
      cudaPatch<NVTX_CBID_CUDA_NameCuDeviceA, kCudaDevice, int, char>(),
      cudaPatch<NVTX_CBID_CUDA_NameCuDeviceW, kCudaDevice, int, wchar_t>(),
      cudaPatch<NVTX_CBID_CUDA_NameCuContextA, kCudaContext, void*, char>(),
      cudaPatch<NVTX_CBID_CUDA_NameCuContextW, kCudaContext, void*, wchar_t>(),
      cudaPatch<NVTX_CBID_CUDA_NameCuStreamA, kCudaStream, void*, char>(),
      cudaPatch<NVTX_CBID_CUDA_NameCuStreamW, kCudaStream, void*, wchar_t>(),
      cudaPatch<NVTX_CBID_CUDA_NameCuEventA, kCudaEvent, void*, char>(),
      cudaPatch<NVTX_CBID_CUDA_NameCuEventW, kCudaEvent, void*, wchar_t>(),
  };
  return {NVTX_CB_MODULE_CUDA, list, sizeof list / sizeof *list};
}

PatchList cudaRtPatches() noexcept {
  static const Patch list[] = {
      cudaRtPatch<NVTX_CBID_CUDART_NameCudaDeviceA, kRtDevice, int, char>(),
      cudaRtPatch<NVTX_CBID_CUDART_NameCudaDeviceW, kRtDevice, int, wchar_t>(),
      cudaRtPatch<NVTX_CBID_CUDART_NameCudaStreamA, kRtStream, void*, char>(),
      cudaRtPatch<NVTX_CBID_CUDART_NameCudaStreamW, kRtStream, void*, wchar_t>(),
      cudaRtPatch<NVTX_CBID_CUDART_NameCudaEventA, kRtEvent, void*, char>(),
      cudaRtPatch<NVTX_CBID_CUDART_NameCudaEventW, kRtEvent, void*, wchar_t>(),
  };
  return {NVTX_CB_MODULE_CUDART, list, sizeof list / sizeof *list};
}

}  // namespace sonde::preload::nvtx
