// Translates CUPTI's numbers to Sonde's words. Plain functions; any thread.
#pragma once

#include "collector/preload/cuda/cupti/cupti_abi.h"
#include "collector/wire/device_records.h"

#include <cstdint>

namespace sonde::preload::cuda {

wire::DeviceCopyKind copyKind(cupti::MemcpyKind kind) noexcept;
wire::MemoryKind memoryKind(std::uint32_t kind) noexcept;
const char* overheadName(cupti::OverheadKind kind) noexcept;
wire::DeviceMemoryKind poolKind(cupti::MemoryPoolOperation operation) noexcept;
// `flags`: from a record of moved pages.
wire::MigrationCause migrationCause(std::uint32_t flags) noexcept;
// `kind`: CUpti_ExternalCorrelationKind.
const char* externalIdName(std::uint32_t kind) noexcept;

// Interns a CUDA function's name in CUPTI ("cudaLaunchKernel_v7000") without its version. nullptr:
// it has no name.
std::uint32_t internFunction(const char* name) noexcept;

// A record's header; the function that writes the record fills in size and kind.
template <typename Detail>
wire::RecordHeader header(std::uint32_t subject, Detail detail) noexcept {
  return {0, wire::RecordKind::Count, static_cast<std::uint8_t>(detail), subject};
}

}  // namespace sonde::preload::cuda
