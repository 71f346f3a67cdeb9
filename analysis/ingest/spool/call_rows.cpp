#include "analysis/ingest/spool/call_rows.h"

#include "analysis/finalise/device_calls.h"
#include "analysis/ingest/rows/record_walk.h"

#include <algorithm>

namespace sonde::ingest {

model::SliceId CallRows::add(ImageThread& thread,
                             model::Slice slice,
                             std::int64_t endNs,
                             bool isOpen) {
  putAt(slice, thread.track.placeCall(slice.startNs, endNs));
  if (!isOpen)
    slice.durNs = endNs - slice.startNs;
  slice.id = image_.sink.add(slice);
  slice.durNs = endNs - slice.startNs;
  for (const ThreadTrack::Moved& moved : thread.track.adopt(slice))
    image_.sink.moveSlice(moved.id, moved.parent, moved.depth);
  thread.track.finished(slice);
  return slice.id;
}

// An unfinished wait for a device is a call, as CUPTI has no record of it. Its name shows whether
// it is the runtime's or the driver's.
std::string_view CallRows::categoryOf(const wire::Call& record) {
  switch (record.probe) {
    case wire::Probe::Python:
      return codeWord(record.category);
    case wire::Probe::Plugin:
      return plugins_.category(record.plugin);
    case wire::Probe::Cuda:
      return deviceCallWord(static_cast<std::uint8_t>(
          image_.dictionary.text(record.header.subject).starts_with("cuda")
              ? wire::DeviceCallKind::Runtime
              : wire::DeviceCallKind::Driver));
    default:
      return probeWord(record.probe);
  }
}

void CallRows::onCall(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Call>(at);
  const auto kind = sliceKind(record.header.detail);
  if (!kind) {
    ++image_.counts.damaged;
    return;
  }
  const std::int64_t endNs = image_.endOf(thread, record.endTicks);
  const std::int64_t startNs = std::min(image_.time.toNs(record.beginTicks), endNs);
  model::Slice slice = image_.newSlice(thread, *kind, record.probe, record.header.subject, startNs);
  slice.category = categoryOf(record);
  thread.remember(model::Owner::Slice, add(thread, slice, endNs, record.endTicks == 0).value);
}

void CallRows::onMark(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Mark>(at);
  const std::string_view category = record.probe == wire::Probe::Plugin
                                        ? plugins_.category(record.plugin)
                                        : probeWord(record.probe);
  addMark(thread, category, image_.name(record.header.subject), record.ticks);
}

void CallRows::addMark(ImageThread& thread,
                       std::string_view category,
                       model::StringId name,
                       std::uint64_t ticks) {
  model::Slice slice = image_.newSlice(
      thread, model::SliceKind::Mark, wire::Probe::Process, 0, image_.advance(thread, ticks));
  slice.category = category;
  slice.nameId = name;
  slice.durNs = 0;
  putAt(slice, thread.track.innermost());
  slice.id = image_.sink.add(slice);
  thread.track.finished(slice);
  thread.remember(model::Owner::Slice, slice.id.value);
}

void CallRows::onFileAccess(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::FileAccess>(at);
  const std::int64_t endNs = image_.endOf(thread, record.endTicks);
  const std::int64_t startNs = std::min(image_.time.toNs(record.beginTicks), endNs);
  const auto known = [](std::uint64_t value) {
    return value == wire::FileAccess::kUnknown ? model::OptionalInt() : signedOf(value);
  };
  model::FileAccess row;
  row.sliceId =
      add(thread,
          image_.newSlice(
              thread, model::SliceKind::Io, wire::Probe::Io, record.header.subject, startNs),
          endNs,
          record.endTicks == 0);
  if (record.path != 0)
    row.pathId = image_.name(record.path);
  row.offset = known(record.offset);
  row.bytes = known(record.bytes);
  row.diskBytes = known(record.diskBytes);
  image_.sink.add(row);
  thread.remember(model::Owner::Slice, row.sliceId.value);
}

// Finds the waker's row by its kernel id: its definition, if any, may come later.
void CallRows::onHandoff(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Handoff>(at);
  const auto kind = syncObject(static_cast<std::uint8_t>(record.kind));
  if (!kind) {
    ++image_.counts.damaged;
    return;
  }
  model::Handoff row;
  row.wakeNs = image_.endOf(thread, record.endTicks);
  row.blockNs = std::min(image_.time.toNs(record.beginTicks), row.wakeNs);
  row.sliceId = add(
      thread,
      image_.newSlice(
          thread, model::SliceKind::Wait, wire::Probe::Sync, record.header.subject, row.blockNs),
      row.wakeNs,
      record.endTicks == 0);
  thread.remember(model::Owner::Slice, row.sliceId.value);
  if (record.endTicks == 0)
    return;  // no thread has woken it
  if ((record.header.detail & wire::Handoff::kTimedOut) != 0)
    return image_.addArg(
        model::Owner::Slice, row.sliceId.value, image_.sink.intern("timed out"), std::int64_t{1});
  if ((record.header.detail & wire::Handoff::kInterrupted) != 0)
    return;
  row.object = signedOf(record.object);
  row.kind = *kind;
  row.wakeeThreadId = thread.row.id;
  if (record.wakerTicks != 0)
    row.wakerNs = std::min(image_.time.toNs(record.wakerTicks), row.wakeNs);
  if (record.waker != 0)
    row.wakerThreadId = threads_.rowOf(record.waker, row.wakerNs.value_or(row.blockNs));
  row.certain = record.waker != 0 && (record.header.detail & wire::Handoff::kCertain) != 0;
  image_.sink.add(row);
}

}  // namespace sonde::ingest
