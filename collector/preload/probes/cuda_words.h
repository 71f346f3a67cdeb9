// What CUPTI's numbers mean in Sonde's records. Plain functions; any thread.
#pragma once

#include "collector/preload/probes/cupti_abi.h"
#include "collector/wire/device_records.h"

#include <cstdint>

namespace sonde::preload::cuda {

wire::DeviceCopyKind copyKind(cupti::MemcpyKind kind) noexcept;
wire::MemoryKind memoryKind(std::uint32_t kind) noexcept;
const char* overheadName(cupti::OverheadKind kind) noexcept;
wire::DeviceMemoryKind poolKind(cupti::MemoryPoolOperation operation) noexcept;
// `flags`: of a record of pages that moved.
wire::MigrationCause migrationCause(std::uint32_t flags) noexcept;
// `kind`: CUpti_ExternalCorrelationKind.
const char* externalIdName(std::uint32_t kind) noexcept;

}  // namespace sonde::preload::cuda
