// What CUPTI's numbers mean in Sonde's records. Plain functions; any thread.
#pragma once

#include "collector/preload/probes/cupti_abi.h"
#include "collector/wire/device_records.h"

#include <cstdint>

namespace sonde::preload::cuda {

wire::DeviceCopyKind copyKind(cupti::MemcpyKind kind) noexcept;
wire::MemoryKind memoryKind(std::uint32_t kind) noexcept;
const char* overheadName(cupti::OverheadKind kind) noexcept;

}  // namespace sonde::preload::cuda
