#include "collector/preload/probes/cuda_words.h"

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

}  // namespace sonde::preload::cuda
