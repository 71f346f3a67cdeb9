// ImageBuilder's handlers for the kinds of records.
#include "analysis/finalise/device_calls.h"
#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/wire_words.h"
#include "analysis/ingest/spool/image_builder.h"
#include "collector/wire/device_records.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace sonde::ingest {
const std::array<ImageBuilder::Handler, static_cast<std::size_t>(wire::RecordKind::Count)>
    ImageBuilder::kHandlers = {nullptr,
                               &ImageBuilder::onScopeBegin,
                               &ImageBuilder::onScopeEnd,
                               &ImageBuilder::onCall,
                               &ImageBuilder::onRangeBegin,
                               &ImageBuilder::onRangeEnd,
                               &ImageBuilder::onMark,
                               &ImageBuilder::onScalar,
                               &ImageBuilder::onIterationInfo,
                               &ImageBuilder::onArg,
                               &ImageBuilder::onCollective,
                               &ImageBuilder::onTransfer,
                               &ImageBuilder::onClockSync,
                               &ImageBuilder::onThreadEnd,
                               &ImageBuilder::onFork,
                               &ImageBuilder::onExec,
                               &ImageBuilder::onDeviceCall,
                               &ImageBuilder::onDevice<wire::Kernel>,
                               &ImageBuilder::onDevice<wire::DeviceCopy>,
                               &ImageBuilder::onDevice<wire::DeviceSync>,
                               &ImageBuilder::onDeviceMemory,
                               &ImageBuilder::onCollectivePart,
                               &ImageBuilder::onDeviceMetric,
                               &ImageBuilder::onFileAccess,
                               &ImageBuilder::onMessage,
                               &ImageBuilder::onHandoff,
                               &ImageBuilder::onStackSample,
                               &ImageBuilder::onTensor,
                               &ImageBuilder::onCounterValue,
                               &ImageBuilder::onNote,
                               &ImageBuilder::onAllocation,
                               &ImageBuilder::onRelease};

void ImageBuilder::addRecords(std::uint32_t index, std::span<const std::byte> records) {
  Thread& thread = threadOf(index);
  thread.changed = true;
  const WalkCount count =
      walkRecords(records, [&](const wire::RecordHeader& header, const std::byte* at) {
        (this->*kHandlers[static_cast<std::size_t>(header.kind)])(thread, at);
      });
  counts_.records += count.records;
  counts_.skipped += count.skipped;
}

// The thread's own records are in other slots, which have its state.
void ImageBuilder::addSamples(std::uint32_t index, std::span<const std::byte> records) {
  Thread& thread = threadOf(index);
  const WalkCount count =
      walkRecords(records, [&](const wire::RecordHeader& header, const std::byte* at) {
        if (header.kind == wire::RecordKind::StackSample)
          onStackSample(thread, at);
        else
          ++counts_.damaged;
      });
  counts_.records += count.records;
  counts_.skipped += count.skipped;
}

void ImageBuilder::onStackSample(Thread& thread, const std::byte* at) {
  const auto header = loadRecord<wire::RecordHeader>(at);
  if (!stacks_.add(thread.row.id, {at, header.size}))
    ++counts_.damaged;
  lastNs_ = std::max(lastNs_, stacks_.lastNs());
}

void ImageBuilder::remember(Thread& thread, model::Owner owner, std::int64_t id) {
  thread.lastOwner = owner;
  thread.lastId = id;
}

std::int64_t ImageBuilder::advance(Thread& thread, std::uint64_t ticks) {
  thread.lastNs = std::max(thread.lastNs, time_.toNs(ticks));
  lastNs_ = std::max(lastNs_, thread.lastNs);
  return thread.lastNs;
}

model::Slice ImageBuilder::newSlice(const Thread& thread,
                                    model::SliceKind kind,
                                    wire::Probe probe,
                                    std::uint32_t name,
                                    std::int64_t startNs) {
  model::Slice slice;
  slice.threadId = thread.row.id;
  slice.kind = kind;
  slice.category = probeWord(probe);
  slice.nameId = dictionary_.name(sink_, name);
  slice.startNs = startNs;
  return slice;
}

std::int64_t ImageBuilder::endOf(Thread& thread, std::uint64_t endTicks) {
  return endTicks != 0 ? advance(thread, endTicks) : std::max(thread.lastNs, seenNs_);
}

model::SliceId ImageBuilder::addCall(Thread& thread,
                                     model::Slice slice,
                                     std::int64_t endNs,
                                     bool isOpen) {
  putAt(slice, thread.track.placeCall(slice.startNs, endNs));
  if (!isOpen)
    slice.durNs = endNs - slice.startNs;
  slice.id = sink_.add(slice);
  slice.durNs = endNs - slice.startNs;
  for (const ThreadTrack::Moved& moved : thread.track.adopt(slice))
    sink_.moveSlice(moved.id, moved.parent, moved.depth);
  thread.track.finished(slice);
  return slice.id;
}

// An unfinished wait for a device is a call, as CUPTI has no record of it. Its name shows whether
// it is the runtime's or the driver's.
std::string_view ImageBuilder::categoryOf(const wire::Call& record) {
  switch (record.probe) {
    case wire::Probe::Python:
      return codeWord(record.category);
    case wire::Probe::Plugin:
      return plugins_.category(record.plugin);
    case wire::Probe::Cuda:
      return deviceCallWord(
          static_cast<std::uint8_t>(dictionary_.text(record.header.subject).starts_with("cuda")
                                        ? wire::DeviceCallKind::Runtime
                                        : wire::DeviceCallKind::Driver));
    default:
      return probeWord(record.probe);
  }
}

void ImageBuilder::onCall(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Call>(at);
  const auto kind = sliceKind(record.header.detail);
  if (!kind) {
    ++counts_.damaged;
    return;
  }
  const std::int64_t endNs = endOf(thread, record.endTicks);
  const std::int64_t startNs = std::min(time_.toNs(record.beginTicks), endNs);
  model::Slice slice = newSlice(thread, *kind, record.probe, record.header.subject, startNs);
  slice.category = categoryOf(record);
  remember(thread, model::Owner::Slice, addCall(thread, slice, endNs, record.endTicks == 0).value);
}

void ImageBuilder::onMark(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Mark>(at);
  const std::string_view category = record.probe == wire::Probe::Plugin
                                        ? plugins_.category(record.plugin)
                                        : probeWord(record.probe);
  addMark(thread, category, dictionary_.name(sink_, record.header.subject), record.ticks);
}

void ImageBuilder::addMark(Thread& thread,
                           std::string_view category,
                           model::StringId name,
                           std::uint64_t ticks) {
  model::Slice slice =
      newSlice(thread, model::SliceKind::Mark, wire::Probe::Process, 0, advance(thread, ticks));
  slice.category = category;
  slice.nameId = name;
  slice.durNs = 0;
  putAt(slice, thread.track.innermost());
  slice.id = sink_.add(slice);
  thread.track.finished(slice);
  remember(thread, model::Owner::Slice, slice.id.value);
}

void ImageBuilder::onCounterValue(Thread&, const std::byte* at) {
  const auto record = loadRecord<wire::CounterValue>(at);
  const std::int64_t ns = time_.toNs(record.ticks);
  lastNs_ = std::max(lastNs_, ns);
  if (!plugins_.addValue(record, ns))
    ++counts_.damaged;
}

void ImageBuilder::onNote(Thread&, const std::byte* at) {
  const auto record = loadRecord<wire::Note>(at);
  lastNs_ = std::max(lastNs_, time_.toNs(record.ticks));
  if (!plugins_.addNote(record, time_.toNs(record.ticks)))
    ++counts_.damaged;
}

std::optional<model::ArgValue> ImageBuilder::valueOf(const wire::Arg& record) {
  switch (static_cast<wire::ArgType>(record.header.detail & 0x0f)) {
    case wire::ArgType::Text:
      return dictionary_.text(static_cast<std::uint32_t>(record.bits));
    case wire::ArgType::Int:
      return signedOf(record.bits);
    case wire::ArgType::Double:
      return std::bit_cast<double>(record.bits);
  }
  return std::nullopt;
}

bool ImageBuilder::takePlaceInJob(std::string_view key, const model::ArgValue& value) {
  const bool isRank = key == wire::kRankKey;
  const auto* text = std::get_if<std::string_view>(&value);
  if ((!isRank && key != wire::kWorldSizeKey) || text == nullptr)
    return false;
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text->data() + text->size() || number < 0)
    return false;
  (isRank ? process_.row.rank : process_.row.worldSize) = number;
  sink_.update(process_.row);
  return true;
}

void ImageBuilder::onArg(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Arg>(at);
  const model::StringId key = dictionary_.name(sink_, record.header.subject);
  const auto value = valueOf(record);
  if (!value) {
    ++counts_.damaged;
    return;
  }
  if ((record.header.detail & wire::Arg::kOfProcess) != 0) {
    if (!takePlaceInJob(dictionary_.text(record.header.subject), *value))
      addArg(model::Owner::Process, process_.row.id.value, key, *value);
    return;
  }
  if (record.token == 0 && thread.lastId != 0) {
    addArg(thread.lastOwner, thread.lastId, key, *value);
    return;
  }
  TrackScope* scope = thread.track.find(record.token);
  if (scope == nullptr) {
    ++counts_.unbalanced;
    return;
  }
  addArg(model::Owner::Slice, scope->slice.id.value, key, *value);
  if (const auto* number = std::get_if<std::int64_t>(&*value))
    tellIteration(*scope, dictionary_.text(record.header.subject), *number);
}

// Does not change the thread's last record: the library inserts these by itself.
void ImageBuilder::onClockSync(Thread&, const std::byte* at) {
  const auto record = loadRecord<wire::ClockSync>(at);
  lastNs_ = std::max(lastNs_, time_.toNs(record.ticks));
  model::ClockSync row;
  row.hostId = process_.row.hostId;
  row.processId = process_.row.id;
  row.ticks = signedOf(record.ticks);
  row.monotonicNs = record.monotonicNs;
  row.realtimeNs = record.realtimeNs;
  sink_.add(row);
}

void ImageBuilder::onThreadEnd(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::ThreadEnd>(at);
  const std::int64_t endNs = advance(thread, record.ticks);
  while (!thread.track.open().empty())
    endScope(thread, thread.track.open().back().token, endNs);
  if (record.header.subject != 0)
    thread.name = record.header.subject;
  thread.row.endNs = endNs;
  remember(thread, model::Owner::Thread, thread.row.id.value);
}

void ImageBuilder::onFork(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Fork>(at);
  addMark(thread, probeWord(wire::Probe::Process), sink_.intern("fork"), record.ticks);
  addArg(model::Owner::Slice,
         thread.lastId,
         sink_.intern("child"),
         static_cast<std::int64_t>(static_cast<std::int32_t>(record.header.subject)));
}

void ImageBuilder::onExec(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Exec>(at);
  addMark(thread, probeWord(wire::Probe::Process), sink_.intern("exec"), record.ticks);
  addArg(model::Owner::Slice,
         thread.lastId,
         sink_.intern("path"),
         dictionary_.text(record.header.subject));
  if (record.header.detail == 0)
    return;
  ++notFollowed_;
  addArg(model::Owner::Slice,
         thread.lastId,
         sink_.intern("not followed"),
         dictionary_.text(record.reason));
}

void ImageBuilder::addArg(model::Owner owner,
                          std::int64_t id,
                          model::StringId key,
                          model::ArgValue value) {
  sink_.add(model::Arg{owner, id, key, value});
}

}  // namespace sonde::ingest
