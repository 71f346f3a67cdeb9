#include "analysis/ingest/spool/device_call_rows.h"

#include "analysis/finalise/device_calls.h"
#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/state_codec.h"
#include "analysis/ingest/spool/device_launches.h"

#include <algorithm>

namespace sonde::ingest {

// Its place among the slices of its thread is found when all are there.
void DeviceCallRows::onDeviceCall(ImageThread&, const std::byte* at) {
  const auto record = loadRecord<wire::DeviceCall>(at);
  if (record.header.detail == static_cast<std::uint8_t>(wire::DeviceCallKind::ExternalId))
    return addExternalId(record);
  const std::int64_t startNs = image_.time.toNs(record.beginTicks);
  const std::int64_t endNs = std::max(startNs, image_.time.toNs(record.endTicks));
  image_.lastNs = std::max(image_.lastNs, endNs);
  model::Slice slice;
  slice.threadId = threads_.rowOf(
      record.tid != 0 ? record.tid : static_cast<std::int32_t>(image_.process.row.pid), startNs);
  slice.kind = model::SliceKind::Api;
  slice.category = deviceCallWord(record.header.detail);
  slice.nameId = image_.name(record.header.subject);
  slice.startNs = startNs;
  slice.durNs = endNs - startNs;
  if (record.correlation != 0)
    slice.correlationId = record.correlation;
  const model::SliceId id = image_.sink.add(slice);
  if (record.result != 0)
    image_.addArg(
        model::Owner::Slice, id.value, image_.sink.intern("result"), std::int64_t{record.result});
}

template <typename Record>
void DeviceCallRows::onWork(ImageThread&, const std::byte* at) {
  devices_.heardAt(image_.lastNs);
  if (devices_.add(loadRecord<Record>(at)) == 0)
    ++image_.counts.damaged;
  image_.lastNs = std::max(image_.lastNs, devices_.lastNs());
}

void DeviceCallRows::onMemory(ImageThread&, const std::byte* at) {
  const auto record = loadRecord<wire::DeviceMemory>(at);
  image_.happened(record.beginTicks);
  if (const std::string_view name = managedMemoryWord(record.header.detail); !name.empty())
    addMemoryMark(record, name);
  else
    memory_.add(record);
}

// CUPTI does not report the thread: the mark goes to the process's first thread.
void DeviceCallRows::addMemoryMark(const wire::DeviceMemory& record, std::string_view name) {
  using wire::DeviceMemoryKind;
  const auto kind = static_cast<DeviceMemoryKind>(record.header.detail);
  model::Slice slice;
  slice.startNs = image_.time.toNs(record.beginTicks);
  slice.durNs = 0;
  slice.threadId = threads_.rowOf(static_cast<std::int32_t>(image_.process.row.pid), slice.startNs);
  slice.kind = model::SliceKind::Mark;
  slice.category = kManagedMemory;
  slice.nameId = image_.sink.intern(name);
  const std::int64_t id = image_.sink.add(slice).value;
  const auto add = [&](std::string_view key, model::ArgValue value) {
    image_.addArg(model::Owner::Slice, id, image_.sink.intern(key), value);
  };
  add("address", signedOf(record.address));
  if (record.header.subject != 0)
    add("device", std::int64_t{record.header.subject} - 1);
  if (record.endTicks > record.beginTicks)
    add("duration_ns", image_.time.toNs(record.endTicks) - slice.startNs);
  if (record.value != 0)
    add(kind == DeviceMemoryKind::CpuPageFault   ? "instruction"
        : kind == DeviceMemoryKind::GpuPageFault ? "faults"
                                                 : "bytes",
        signedOf(record.value));
  if (const auto cause = memoryCauseWord(record.header.detail, record.cause); !cause.empty())
    add(kind == DeviceMemoryKind::RemoteMap ? "cause" : "access", cause);
}

// The call may come later: joinLaunches() finds it.
void DeviceCallRows::addExternalId(const wire::DeviceCall& record) {
  StatePacker out;
  out.put(ExternalId{image_.process.row.id.value,
                     record.correlation,
                     image_.name(record.header.subject).value,
                     signedOf(record.beginTicks),
                     image_.lastNs});
  image_.sink.setState(image_.spool, kExternalIds, nextExternal_++, std::string_view(out.bytes()));
}

void DeviceCallRows::onMetric(ImageThread& thread, const std::byte* at) {
  devices_.add(loadRecord<wire::DeviceMetric>(at), thread.row.id);
}

template void DeviceCallRows::onWork<wire::Kernel>(ImageThread&, const std::byte*);
template void DeviceCallRows::onWork<wire::DeviceCopy>(ImageThread&, const std::byte*);
template void DeviceCallRows::onWork<wire::DeviceSync>(ImageThread&, const std::byte*);

}  // namespace sonde::ingest
