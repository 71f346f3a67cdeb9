// ImageBuilder's records from CUPTI: calls and device work.
#include "analysis/finalise/device_calls.h"
#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/wire_words.h"
#include "analysis/ingest/spool/device_launches.h"
#include "analysis/ingest/spool/image_builder.h"
#include "collector/wire/device_records.h"

#include <algorithm>

namespace sonde::ingest {
void ImageBuilder::noteTid(const Thread& thread) {
  std::vector<ThreadOfTid>& same = threadsByTid_[thread.row.tid];
  if (!same.empty() && same.back().row == thread.row.id)
    same.pop_back();
  same.push_back({thread.row.startNs.value_or(0), thread.row.id, false});
}

model::ThreadId ImageBuilder::threadOfTid(std::int32_t tid, std::int64_t ns) {
  std::vector<ThreadOfTid>& same = threadsByTid_[tid];
  for (auto thread = same.rbegin(); thread != same.rend(); ++thread) {
    if (thread->startNs <= ns)
      return thread->row;
  }
  // For Sonde a thread begins with its first recorded action, which may come after this.
  if (!same.empty())
    return same.front().row;
  model::Thread row;
  row.processId = process_.row.id;
  row.tid = tid;
  row.id = sink_.add(row);
  same.push_back({ns, row.id, true});
  sink_.setState(spool_, "tid", tid, row.id.value);
  return row.id;
}

// Its place among the slices of its thread is found when all are there.
void ImageBuilder::onDeviceCall(Thread&, const std::byte* at) {
  const auto record = loadRecord<wire::DeviceCall>(at);
  if (record.header.detail == static_cast<std::uint8_t>(wire::DeviceCallKind::ExternalId))
    return addExternalId(record);
  const std::int64_t startNs = time_.toNs(record.beginTicks);
  const std::int64_t endNs = std::max(startNs, time_.toNs(record.endTicks));
  lastNs_ = std::max(lastNs_, endNs);
  model::Slice slice;
  slice.threadId = threadOfTid(
      record.tid != 0 ? record.tid : static_cast<std::int32_t>(process_.row.pid), startNs);
  slice.kind = model::SliceKind::Api;
  slice.category = deviceCallWord(record.header.detail);
  slice.nameId = dictionary_.name(sink_, record.header.subject);
  slice.startNs = startNs;
  slice.durNs = endNs - startNs;
  if (record.correlation != 0)
    slice.correlationId = record.correlation;
  const model::SliceId id = sink_.add(slice);
  if (record.result != 0)
    addArg(model::Owner::Slice, id.value, sink_.intern("result"), std::int64_t{record.result});
}

template <typename Record>
void ImageBuilder::onDevice(Thread&, const std::byte* at) {
  devices_.heardAt(lastNs_);
  if (devices_.add(loadRecord<Record>(at)) == 0)
    ++counts_.damaged;
  lastNs_ = std::max(lastNs_, devices_.lastNs());
}

void ImageBuilder::onDeviceMemory(Thread&, const std::byte* at) {
  const auto record = loadRecord<wire::DeviceMemory>(at);
  lastNs_ = std::max(lastNs_, time_.toNs(record.beginTicks));
  if (const std::string_view name = managedMemoryWord(record.header.detail); !name.empty())
    addMemoryMark(record, name);
  else
    memory_.add(record);
}

// CUPTI does not report the thread: the mark goes to the process's first thread.
void ImageBuilder::addMemoryMark(const wire::DeviceMemory& record, std::string_view name) {
  using wire::DeviceMemoryKind;
  const auto kind = static_cast<DeviceMemoryKind>(record.header.detail);
  model::Slice slice;
  slice.startNs = time_.toNs(record.beginTicks);
  slice.durNs = 0;
  slice.threadId = threadOfTid(static_cast<std::int32_t>(process_.row.pid), slice.startNs);
  slice.kind = model::SliceKind::Mark;
  slice.category = kManagedMemory;
  slice.nameId = sink_.intern(name);
  const std::int64_t id = sink_.add(slice).value;
  const auto add = [&](std::string_view key, model::ArgValue value) {
    addArg(model::Owner::Slice, id, sink_.intern(key), value);
  };
  add("address", signedOf(record.address));
  if (record.header.subject != 0)
    add("device", std::int64_t{record.header.subject} - 1);
  if (record.endTicks > record.beginTicks)
    add("duration_ns", time_.toNs(record.endTicks) - slice.startNs);
  if (record.value != 0)
    add(kind == DeviceMemoryKind::CpuPageFault   ? "instruction"
        : kind == DeviceMemoryKind::GpuPageFault ? "faults"
                                                 : "bytes",
        signedOf(record.value));
  if (const auto cause = memoryCauseWord(record.header.detail, record.cause); !cause.empty())
    add(kind == DeviceMemoryKind::RemoteMap ? "cause" : "access", cause);
}

// The call may come later: joinLaunches() finds it.
void ImageBuilder::addExternalId(const wire::DeviceCall& record) {
  StatePacker out;
  out.put(ExternalId{process_.row.id.value,
                     record.correlation,
                     dictionary_.name(sink_, record.header.subject).value,
                     signedOf(record.beginTicks),
                     lastNs_});
  sink_.setState(spool_, kExternalIds, nextExternal_++, std::string_view(out.bytes()));
}

void ImageBuilder::onDeviceMetric(Thread& thread, const std::byte* at) {
  devices_.add(loadRecord<wire::DeviceMetric>(at), thread.row.id);
}

template void ImageBuilder::onDevice<wire::Kernel>(Thread&, const std::byte*);
template void ImageBuilder::onDevice<wire::DeviceCopy>(Thread&, const std::byte*);
template void ImageBuilder::onDevice<wire::DeviceSync>(Thread&, const std::byte*);

}  // namespace sonde::ingest
