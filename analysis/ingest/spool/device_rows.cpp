#include "analysis/ingest/spool/device_rows.h"

#include "analysis/ingest/rows/wire_words.h"
#include "base/demangle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sonde::ingest {
namespace {

constexpr std::size_t kRememberedRecords = 65'536;

// torch.profiler's names.
constexpr std::array<std::string_view, 8> kMemories = {"Unknown",
                                                       "Pageable",
                                                       "Pinned",
                                                       "Device",
                                                       "Array",
                                                       "Managed",
                                                       "Device Static",
                                                       "Managed Static"};

std::string_view memoryWord(wire::MemoryKind kind) {
  const auto at = static_cast<std::size_t>(kind);
  return at < kMemories.size() ? kMemories[at] : kMemories[0];
}

struct CopyWord {
  std::string_view text;
  model::CopyKind kind;
};

CopyWord copyWord(std::uint8_t number) {
  using model::CopyKind;
  switch (static_cast<wire::DeviceCopyKind>(number)) {
    case wire::DeviceCopyKind::HostToDevice:
      return {"HtoD", CopyKind::HostToDevice};
    case wire::DeviceCopyKind::DeviceToHost:
      return {"DtoH", CopyKind::DeviceToHost};
    case wire::DeviceCopyKind::DeviceToDevice:
      return {"DtoD", CopyKind::DeviceToDevice};
    case wire::DeviceCopyKind::HostToHost:
      return {"HtoH", CopyKind::HostToHost};
    case wire::DeviceCopyKind::PeerToPeer:
      return {"PtoP", CopyKind::PeerToPeer};
    case wire::DeviceCopyKind::UnifiedHostToDevice:
      return {"Unified HtoD", CopyKind::HostToDevice};
    case wire::DeviceCopyKind::UnifiedDeviceToHost:
      return {"Unified DtoH", CopyKind::DeviceToHost};
    case wire::DeviceCopyKind::UnifiedPeerToPeer:
      return {"Unified DtoD", CopyKind::DeviceToDevice};
    case wire::DeviceCopyKind::Set:
      return {"", CopyKind::Set};
    case wire::DeviceCopyKind::Other:
      break;
  }
  return {"Unknown", CopyKind::Other};
}

std::string copyName(const CopyWord& word, wire::MemoryKind from, wire::MemoryKind to) {
  if (word.kind == model::CopyKind::Set)
    return fmt::format("Memset ({})",
                       memoryWord(to == wire::MemoryKind::Unknown ? wire::MemoryKind::Device : to));
  return fmt::format("Memcpy {} ({} -> {})", word.text, memoryWord(from), memoryWord(to));
}

std::optional<bool> pinned(wire::MemoryKind host) {
  if (host == wire::MemoryKind::Pinned || host == wire::MemoryKind::Pageable)
    return host == wire::MemoryKind::Pinned;
  return {};
}

model::OptionalInt unlessZero(std::uint64_t value) {
  return value == 0 ? model::OptionalInt() : static_cast<std::int64_t>(value);
}

std::string uuidText(const std::uint8_t (&uuid)[16]) {
  if (std::all_of(std::begin(uuid), std::end(uuid), [](std::uint8_t byte) { return byte == 0; }))
    return "";
  std::string text;
  for (std::size_t at = 0; at < std::size(uuid); ++at) {
    const bool isSeam = at == 4 || at == 6 || at == 8 || at == 10;
    text += fmt::format("{}{:02x}", isSeam ? "-" : "", uuid[at]);
  }
  return "GPU-" + text;
}

}  // namespace

DeviceRows::Span DeviceRows::spanOf(std::uint64_t beginTicks, std::uint64_t endTicks) {
  if (beginTicks == 0)  // joinLaunches() sets the time: that of its launch, which was before this
    return {-lastNs_, {}};
  const std::int64_t startNs = time_.toNs(beginTicks);
  const bool hasEnd = endTicks >= beginTicks && endTicks != 0;
  const std::int64_t endNs = hasEnd ? time_.toNs(endTicks) : startNs;
  lastNs_ = std::max(lastNs_, endNs);
  return {startNs, hasEnd ? model::OptionalInt(endNs - startNs) : model::OptionalInt()};
}

// A GPU that another process of the host has reported.
model::DeviceId DeviceRows::knownDevice(std::string_view uuid) {
  auto rows =
      sink_.writer().database().prepare("SELECT id FROM device WHERE host_id = ?1 AND uuid = ?2");
  if (!rows)
    return {};
  const auto found = rows->bindAll(process_.row.hostId, uuid).step();
  return found && *found ? rows->id<model::DeviceId>(0) : model::DeviceId();
}

model::DeviceId DeviceRows::deviceOf(std::uint32_t ordinal) {
  model::DeviceId& id = devices_[ordinal];
  if (!id) {
    model::Device row;
    row.hostId = process_.row.hostId;
    row.kind = "gpu";
    row.ordinal = ordinal;
    id = sink_.add(row);
    sink_.setState(spool_, "device", ordinal, id.value);
  }
  return id;
}

void DeviceRows::define(const wire::DeviceDefinition& definition) {
  const std::string uuid = uuidText(definition.uuid);
  model::DeviceId& id = devices_[definition.ordinal];
  if (!id && !uuid.empty())
    id = knownDevice(uuid);
  if (id)
    sink_.setState(spool_, "device", definition.ordinal, id.value);
  model::Device row;
  row.id = deviceOf(definition.ordinal);
  row.hostId = process_.row.hostId;
  row.kind = "gpu";
  row.ordinal = definition.ordinal;
  if (definition.name != 0)
    row.name = dictionary_.text(definition.name);
  if (!uuid.empty())
    row.uuid = uuid;
  row.memoryBytes = unlessZero(definition.memoryBytes);
  sink_.update(row);
}

void DeviceRows::define(const wire::StreamDefinition& definition) {
  model::Stream row;
  row.processId = process_.row.id;
  if (definition.device != wire::StreamDefinition::kNoDevice)
    row.deviceId = deviceOf(definition.device);
  row.number = definition.number;
  if (definition.number == wire::StreamDefinition::kUnifiedMemory)
    row.name = "unified memory";
  if ((definition.flags & wire::StreamDefinition::kHasPriority) != 0)
    row.priority = definition.priority;
  model::StreamId& id = streams_[definition.id];
  model::StreamId& known = streamRows_[{definition.context, definition.number}];
  const bool isNew = !id;
  if (isNew)
    id = known ? known : sink_.add(row);
  known = id;
  row.id = id;
  const bool saysMore = row.deviceId || row.priority;
  if (saysMore)
    sink_.update(row);
  if (isNew)
    sink_.setState(spool_, "stream", definition.id, id.value);
}

template <typename Record>
model::DeviceWork DeviceRows::workOf(const Record& record, model::StringId name) {
  const auto stream = streams_.find(record.stream);
  model::DeviceWork work;
  if (stream == streams_.end())
    return work;
  const Span span = spanOf(record.beginTicks, record.endTicks);
  work.streamId = stream->second;
  work.nameId = name;
  work.startNs = span.startNs;
  work.durNs = span.durNs;
  work.correlationId = unlessZero(record.correlation);
  work.graphId = unlessZero(record.graph);
  work.graphNodeId = unlessZero(record.graphNode);
  return work;
}

model::StringId DeviceRows::kernelName(std::uint32_t name) {
  model::StringId& id = kernelNames_[name];
  if (!id)
    id = sink_.intern(demangled(dictionary_.text(name)));
  return id;
}

std::int64_t DeviceRows::add(const wire::Kernel& record) {
  model::Kernel row;
  row.work = workOf(record, kernelName(record.header.subject));
  if (!row.work.streamId)
    return 0;
  if (record.queuedTicks != 0)
    row.work.queuedNs = time_.toNs(record.queuedTicks);
  if (record.submittedTicks != 0)
    row.work.submittedNs = time_.toNs(record.submittedTicks);
  if ((record.header.detail & wire::Kernel::kWholeGraph) == 0) {
    row.grid = {record.grid[0], record.grid[1], record.grid[2]};
    row.block = {record.block[0], record.block[1], record.block[2]};
    row.registers = record.registers;
    row.staticSharedBytes = record.staticSharedBytes;
    row.dynamicSharedBytes = record.dynamicSharedBytes;
    row.localBytes = record.localBytes;
  }
  return sink_.add(row).value;
}

std::int64_t DeviceRows::add(const wire::DeviceCopy& record) {
  const CopyWord word = copyWord(record.header.detail);
  model::Copy row;
  row.work = workOf(record, sink_.intern(copyName(word, record.from, record.to)));
  if (!row.work.streamId)
    return 0;
  row.work.bytes = static_cast<std::int64_t>(record.bytes);
  row.kind = word.kind;
  if (word.kind == model::CopyKind::HostToDevice)
    row.pinned = pinned(record.from);
  if (word.kind == model::CopyKind::DeviceToHost)
    row.pinned = pinned(record.to);
  if (record.header.subject != 0)
    row.peerDeviceId = deviceOf(record.header.subject - 1);
  const model::CopyId id = sink_.add(row);
  if (const std::string_view cause = migrationCauseWord(record.cause); !cause.empty())
    sink_.add(model::Arg{model::Owner::Copy, id.value, sink_.intern("cause"), cause});
  return id.value;
}

void DeviceRows::keep(std::uint64_t recordId, model::SyncId id) {
  if (recordId == 0)
    return;
  records_[recordId] = id;
  recordOrder_.push_back(recordId);
  if (recordOrder_.size() > kRememberedRecords) {
    records_.erase(recordOrder_.front());
    recordOrder_.pop_front();
  }
}

std::int64_t DeviceRows::add(const wire::DeviceSync& record) {
  const auto kind = static_cast<model::SyncKind>(record.header.detail);
  if (model::word(kind).empty())
    return 0;
  const auto stream = streams_.find(record.stream);
  const Span span = spanOf(record.beginTicks, record.endTicks);
  model::Sync row;
  row.processId = process_.row.id;
  if (stream != streams_.end())
    row.streamId = stream->second;
  row.kind = kind;
  row.eventId = unlessZero(record.header.subject);
  row.startNs = span.startNs;
  row.durNs = span.durNs;
  row.correlationId = unlessZero(record.correlation);
  if (kind == model::SyncKind::Record) {
    row.durNs = 0;
  } else {
    const auto waited = records_.find(record.recordId);
    row.waitsForId = waited == records_.end() ? model::SyncId() : waited->second;
  }
  const model::SyncId id = sink_.add(row);
  if (kind == model::SyncKind::Record)
    keep(record.recordId, id);
  return id.value;
}

void DeviceRows::add(const wire::DeviceMetric& record, model::ThreadId thread) {
  const Span span = spanOf(record.beginTicks, record.endTicks);
  model::DeviceMetric row;
  row.threadId = thread;
  row.deviceId = deviceOf(record.device);
  row.nameId = dictionary_.name(sink_, record.header.subject);
  row.startNs = span.startNs;
  row.durNs = span.durNs.value_or(0);
  row.value = record.value;
  sink_.add(row);
}

}  // namespace sonde::ingest
