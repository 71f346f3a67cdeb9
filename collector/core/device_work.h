// What a probe calls to record what devices did. The rules of emit.h hold.
#pragma once

#include "collector/wire/definitions.h"
#include "collector/wire/device_records.h"

#include <cstdint>

namespace sonde::core {

// Size and kind of the record's header are filled in. False: it was not written, and counted.
bool emitDeviceCall(const wire::DeviceCall& record) noexcept;
bool emitKernel(const wire::Kernel& record) noexcept;
bool emitDeviceCopy(const wire::DeviceCopy& record) noexcept;
bool emitDeviceSync(const wire::DeviceSync& record) noexcept;
bool emitDeviceMemory(const wire::DeviceMemory& record) noexcept;
bool emitDeviceMetric(const wire::DeviceMetric& record) noexcept;

// The header of the definition is filled in. False: there is no room.
bool defineDevice(const wire::DeviceDefinition& definition) noexcept;
bool defineStream(const wire::StreamDefinition& definition) noexcept;

}  // namespace sonde::core
