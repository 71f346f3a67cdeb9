#include "collector/preload/cuda/activity/cuda_words.h"

#include "collector/core/emit.h"

#include <cstring>

namespace sonde::preload::cuda {

using wire::DeviceCopyKind;
using wire::MemoryKind;

DeviceCopyKind copyKind(cupti::MemcpyKind kind) noexcept {
  using cupti::MemcpyKind;
  switch (kind) {
    case MemcpyKind::HostToDevice:
    case MemcpyKind::HostToArray:
      return DeviceCopyKind::HostToDevice;
    case MemcpyKind::DeviceToHost:
    case MemcpyKind::ArrayToHost:
      return DeviceCopyKind::DeviceToHost;
    case MemcpyKind::ArrayToArray:
    case MemcpyKind::ArrayToDevice:
    case MemcpyKind::DeviceToArray:
    case MemcpyKind::DeviceToDevice:
      return DeviceCopyKind::DeviceToDevice;
    case MemcpyKind::HostToHost:
      return DeviceCopyKind::HostToHost;
    case MemcpyKind::PeerToPeer:
      return DeviceCopyKind::PeerToPeer;
  }
  return DeviceCopyKind::Other;
}

MemoryKind memoryKind(std::uint32_t kind) noexcept {
  return kind <= static_cast<std::uint32_t>(MemoryKind::ManagedStatic)
             ? static_cast<MemoryKind>(kind)
             : MemoryKind::Unknown;
}

const char* overheadName(cupti::OverheadKind kind) noexcept {
  using cupti::OverheadKind;
  switch (kind) {
    case OverheadKind::DriverCompiler:
      return "Driver compiler";
    case OverheadKind::BufferFlush:
      return "CUPTI buffer flush";
    case OverheadKind::Instrumentation:
      return "CUPTI instrumentation";
    case OverheadKind::Resource:
      return "CUPTI resource";
    case OverheadKind::ModuleLoading:
      return "Runtime triggered module loading";
    case OverheadKind::FunctionLoading:
      return "Lazy function loading";
    case OverheadKind::CommandBufferFull:
      return "Command buffer full";
    case OverheadKind::BufferRequest:
      return "Activity buffer request";
    case OverheadKind::UnifiedMemoryInit:
      return "UVM activity initialization";
  }
  return "CUPTI overhead";
}

wire::DeviceMemoryKind poolKind(cupti::MemoryPoolOperation operation) noexcept {
  using cupti::MemoryPoolOperation;
  switch (operation) {
    case MemoryPoolOperation::Creation:
      return wire::DeviceMemoryKind::PoolCreate;
    case MemoryPoolOperation::Destruction:
      return wire::DeviceMemoryKind::PoolDestroy;
    case MemoryPoolOperation::Trim:
      break;
  }
  return wire::DeviceMemoryKind::PoolTrim;
}

wire::MigrationCause migrationCause(std::uint32_t flags) noexcept {
  return flags <= static_cast<std::uint32_t>(wire::MigrationCause::AccessCounters)
             ? static_cast<wire::MigrationCause>(flags)
             : wire::MigrationCause::Unknown;
}

const char* externalIdName(std::uint32_t kind) noexcept {
  constexpr const char* kNames[] = {"external id",
                                    "external id",
                                    "external id (OpenACC)",
                                    "external id (custom 0)",
                                    "external id (custom 1)",
                                    "external id (custom 2)"};
  return kind < sizeof kNames / sizeof kNames[0] ? kNames[kind] : kNames[0];
}

std::uint32_t internFunction(const char* name) noexcept {
  if (name == nullptr)
    return core::intern("(unknown CUDA function)");
  const char* const end = std::strstr(name, "_v");
  const bool hasVersion = end != nullptr && end[2] >= '1' && end[2] <= '9' && end[3] != '\0';
  return hasVersion ? core::intern(name, static_cast<std::size_t>(end - name)) : core::intern(name);
}

}  // namespace sonde::preload::cuda
