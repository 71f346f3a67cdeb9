// Records what devices did; called by probes. The rules of emit.h apply.
#pragma once

#include "collector/wire/definitions.h"
#include "collector/wire/device_records.h"

#include <cstdint>

namespace sonde::core {

// The function fills in the header's size and kind. False: the record was not written, and was
// counted.
bool emitDeviceCall(const wire::DeviceCall& record) noexcept;
bool emitKernel(const wire::Kernel& record) noexcept;
bool emitDeviceCopy(const wire::DeviceCopy& record) noexcept;
bool emitDeviceSync(const wire::DeviceSync& record) noexcept;
bool emitDeviceMemory(const wire::DeviceMemory& record) noexcept;
bool emitDeviceMetric(const wire::DeviceMetric& record) noexcept;

// The function fills in the definition's header. False: there is no room.
bool defineDevice(const wire::DeviceDefinition& definition) noexcept;
bool defineStream(const wire::StreamDefinition& definition) noexcept;

}  // namespace sonde::core
