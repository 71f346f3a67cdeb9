#include "collector/core/device_work.h"

#include "collector/core/definitions.h"
#include "collector/core/record_place.h"
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"

#include <string.h>

namespace sonde::core {
namespace {

template <typename Record>
bool emitRecord(const Record& record, wire::RecordKind kind) noexcept {
  return emit(record, kind, wire::Probe::Cuda) != 0;
}

template <typename Definition>
bool define(const Definition& definition, wire::DefinitionKind kind) noexcept {
  const WriteMark mark;
  wire::DefinitionHeader* const header =
      attached() ? claimDefinition(gSpool, kind, sizeof definition) : nullptr;
  if (header == nullptr)
    return false;
  // Copies everything except the claim, which other threads may be reading.
  constexpr std::size_t kHead = sizeof(wire::DefinitionHeader);
  memcpy(reinterpret_cast<char*>(header) + kHead,
         reinterpret_cast<const char*>(&definition) + kHead,
         sizeof definition - kHead);
  commitDefinition(header);
  return true;
}

}  // namespace

bool emitDeviceCall(const wire::DeviceCall& record) noexcept {
  return emitRecord(record, wire::RecordKind::DeviceCall);
}

bool emitKernel(const wire::Kernel& record) noexcept {
  return emitRecord(record, wire::RecordKind::Kernel);
}

bool emitDeviceCopy(const wire::DeviceCopy& record) noexcept {
  return emitRecord(record, wire::RecordKind::DeviceCopy);
}

bool emitDeviceSync(const wire::DeviceSync& record) noexcept {
  return emitRecord(record, wire::RecordKind::DeviceSync);
}

bool emitDeviceMemory(const wire::DeviceMemory& record) noexcept {
  return emitRecord(record, wire::RecordKind::DeviceMemory);
}

bool emitDeviceMetric(const wire::DeviceMetric& record) noexcept {
  return emitRecord(record, wire::RecordKind::DeviceMetric);
}

bool defineDevice(const wire::DeviceDefinition& definition) noexcept {
  return define(definition, wire::DefinitionKind::Device);
}

bool defineStream(const wire::StreamDefinition& definition) noexcept {
  return define(definition, wire::DefinitionKind::Stream);
}

}  // namespace sonde::core
