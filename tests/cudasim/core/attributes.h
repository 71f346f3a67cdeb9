#pragma once
// The devices' attributes, equal on all devices except the last byte of the UUID.

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace cudasim {

constexpr const char* kDeviceName = "Sonde Simulated GPU";
constexpr size_t kDeviceBytes = size_t{80} << 30;
constexpr int kMultiprocessors = 132;
constexpr int kClockKHz = 1'980'000;
constexpr int kComputeCapability = 90;

inline CUuuid deviceUuid(uint32_t device) {
  CUuuid uuid{};
  for (int i = 0; i < 16; ++i) {
    uuid.bytes[i] = static_cast<char>(0x50 + i);
  }
  uuid.bytes[15] = static_cast<char>(device);
  return uuid;
}

inline int deviceAttribute(CUdevice_attribute attribute, uint32_t device) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return kComputeCapability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return kComputeCapability % 10;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return kMultiprocessors;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return kClockKHz;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return static_cast<int>(device) + 1;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return 1;
    default:
      return 0;
  }
}

}  // namespace cudasim
