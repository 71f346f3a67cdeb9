#include "analysis/ingest/nsight/nsight_device.h"

#include <fmt/format.h>

#include <array>

namespace sonde::ingest {
namespace {

using Column = NsightTable::Column;
using Type = NsightTable::Type;
using model::CopyKind;

// Columns common to all tables of device work; a table's own start at `Others`.
enum WorkColumn : std::size_t { Start, End, Process, Device, Context, Stream, Correlation, Others };
template <std::size_t count>
constexpr std::array<Column, Others + count> workWith(const std::string_view (&others)[count]) {
  std::array<Column, Others + count> columns = {{{"start", Type::Integer, true},
                                                 {"end"},
                                                 {"globalPid"},
                                                 {"deviceId"},
                                                 {"contextId"},
                                                 {"streamId"},
                                                 {"correlationId"}}};
  for (std::size_t at = 0; at < count; ++at)
    columns[Others + at] = {others[at]};
  return columns;
}

enum KernelColumn : std::size_t {
  Demangled = Others,
  Short,
  Mangled,
  Registers,
  GridX,
  GridY,
  GridZ,
  BlockX,
  BlockY,
  BlockZ,
  StaticShared,
  DynamicShared,
  Local,
  KernelNode,
};
constexpr auto kKernel = workWith({"demangledName",
                                   "shortName",
                                   "mangledName",
                                   "registersPerThread",
                                   "gridX",
                                   "gridY",
                                   "gridZ",
                                   "blockX",
                                   "blockY",
                                   "blockZ",
                                   "staticSharedMemory",
                                   "dynamicSharedMemory",
                                   "localMemoryPerThread",
                                   "graphNodeId"});

enum GraphColumn : std::size_t { Graph = Others };
constexpr auto kGraph = workWith({"graphId"});

enum CopyColumn : std::size_t { Bytes = Others, Kind, From, To, ToDevice, CopyNode };
constexpr auto kCopy =
    workWith({"bytes", "copyKind", "srcKind", "dstKind", "dstDeviceId", "graphNodeId"});

enum SetColumn : std::size_t { SetBytes = Others, MemoryKind, SetNode };
constexpr auto kSet = workWith({"bytes", "memKind", "graphNodeId"});

enum SyncColumn : std::size_t { SyncType = Others, EventId };
constexpr auto kSync = workWith({"syncType", "eventId"});

// CUPTI's CUpti_ActivityMemcpyKind: torch.profiler's text, and the kind.
struct CopyWord {
  std::string_view text;
  CopyKind kind;
};
constexpr CopyWord kCopies[] = {{"Unknown", CopyKind::Other},
                                {"HtoD", CopyKind::HostToDevice},
                                {"DtoH", CopyKind::DeviceToHost},
                                {"HtoA", CopyKind::HostToDevice},
                                {"AtoH", CopyKind::DeviceToHost},
                                {"AtoA", CopyKind::DeviceToDevice},
                                {"AtoD", CopyKind::DeviceToDevice},
                                {"DtoA", CopyKind::DeviceToDevice},
                                {"DtoD", CopyKind::DeviceToDevice},
                                {"HtoH", CopyKind::HostToHost},
                                {"PtoP", CopyKind::PeerToPeer},
                                {"Unified HtoD", CopyKind::HostToDevice},
                                {"Unified DtoH", CopyKind::DeviceToHost},
                                {"Unified DtoD", CopyKind::DeviceToDevice}};

// CUPTI's CUpti_ActivityMemoryKind in Nsight's numbering.
constexpr std::int64_t kPageable = 0;
constexpr std::int64_t kPinned = 1;
constexpr std::string_view kMemories[] = {
    "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};

std::string_view memoryOf(model::OptionalInt kind) noexcept {
  const bool known = kind && *kind >= 0 && *kind < static_cast<std::int64_t>(std::size(kMemories));
  return known ? kMemories[*kind] : "Unknown";
}

std::optional<bool> pinnedOf(model::OptionalInt memory) noexcept {
  if (memory == kPinned)
    return true;
  if (memory == kPageable)
    return false;
  return {};
}

// CUPTI's CUpti_ActivitySynchronizationType.
std::optional<model::SyncKind> syncKindOf(model::OptionalInt type) noexcept {
  switch (type.value_or(0)) {
    case 1:
      return model::SyncKind::Event;
    case 2:
      return model::SyncKind::Wait;
    case 3:
      return model::SyncKind::Stream;
    case 4:
      return model::SyncKind::Context;
    default:
      return {};
  }
}

}  // namespace

Result<void> NsightDevice::readOrdinals() {
  constexpr std::array<Column, 3> kColumns = {{{"pid", Type::Integer, true},
                                               {"cudaId", Type::Integer, true},
                                               {"gpuId", Type::Integer, true}}};
  SONDE_TRY_ASSIGN(
      auto table,
      NsightTable::open(context_.file, "TARGET_INFO_CUDA_DEVICE", kColumns, context_.account));
  return forEachRow(std::move(table), [&](const NsightTable& row) -> Result<void> {
    ordinals_.try_emplace({*row.integer(0), *row.integer(1)}, *row.integer(2));
    return {};
  });
}

Result<void> NsightDevice::read() {
  SONDE_TRY(readOrdinals());
  struct Part {
    std::string_view table;
    std::span<const Column> columns;
    std::string_view category;
    Result<void> (NsightDevice::*row)(const NsightTable&);
  };
  const Part parts[] = {
      {"CUPTI_ACTIVITY_KIND_KERNEL", kKernel, "kernel", &NsightDevice::kernel},
      {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kGraph, "graph", &NsightDevice::graph},
      {"CUPTI_ACTIVITY_KIND_MEMCPY", kCopy, "memcpy", &NsightDevice::copy},
      {"CUPTI_ACTIVITY_KIND_MEMSET", kSet, "memset", &NsightDevice::set},
      {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", kSync, "synchronization", &NsightDevice::sync}};
  for (const Part& part : parts)
    SONDE_TRY(context_.read(
        part.table, part.columns, part.category, [this, &part](const NsightTable& row) {
          return (this->*part.row)(row);
        }));
  return {};
}

std::size_t NsightDevice::processOf(const NsightTable& row) {
  const auto process = row.integer(Process);
  return process ? context_.process(*process) : ImportedPlaces::kMain;
}

std::int64_t NsightDevice::ordinalOf(std::size_t process, std::int64_t device) const {
  const auto known = ordinals_.find({context_.places.pidOf(process), device});
  return known == ordinals_.end() ? device : known->second;
}

model::StreamId NsightDevice::streamOf(const NsightTable& row) {
  const std::size_t process = processOf(row);
  return context_.places.stream(process,
                                ordinalOf(process, row.integer(Device).value_or(0)),
                                row.integer(Stream).value_or(-1),
                                row.integer(Context).value_or(0));
}

model::DeviceWork NsightDevice::workOf(const NsightTable& row, const NsightContext::Span& span) {
  model::DeviceWork work;
  work.streamId = streamOf(row);
  work.startNs = span.startNs;
  work.durNs = span.durNs;
  work.correlationId = row.integer(Correlation);
  return work;
}

Result<void> NsightDevice::kernel(const NsightTable& row) {
  const auto span = context_.spanOf(row.integer(Start), row.integer(End));
  if (!span)
    return {};
  model::OptionalInt number = row.integer(Demangled);
  for (const std::size_t column : {Short, Mangled})
    number = number ? number : row.integer(column);
  SONDE_TRY_ASSIGN(const NsightNames::Name* const name, context_.names.find(number));
  model::Kernel kernel;
  kernel.id = context_.writer.reserveId<model::KernelId>();
  kernel.work = workOf(row, *span);
  kernel.work.nameId = name->id;
  kernel.work.graphNodeId = row.integer(KernelNode);
  kernel.grid = {row.integer(GridX), row.integer(GridY), row.integer(GridZ)};
  kernel.block = {row.integer(BlockX), row.integer(BlockY), row.integer(BlockZ)};
  kernel.registers = row.integer(Registers);
  kernel.staticSharedBytes = row.integer(StaticShared);
  kernel.dynamicSharedBytes = row.integer(DynamicShared);
  kernel.localBytes = row.integer(Local);
  TraceEvent event;
  event.name = name->text;
  collectives_[processOf(row)].add(event, kernel);
  return add(kernel, row);
}

// A graph traced as a whole.
Result<void> NsightDevice::graph(const NsightTable& row) {
  const auto span = context_.spanOf(row.integer(Start), row.integer(End));
  if (!span)
    return {};
  model::Kernel kernel;
  kernel.id = context_.writer.reserveId<model::KernelId>();
  kernel.work = workOf(row, *span);
  kernel.work.graphId = row.integer(Graph);
  SONDE_TRY_ASSIGN(
      kernel.work.nameId,
      context_.writer.intern(fmt::format("CUDA graph {}", kernel.work.graphId.value_or(0))));
  return add(kernel, row);
}

Result<void> NsightDevice::copy(const NsightTable& row) {
  const auto span = context_.spanOf(row.integer(Start), row.integer(End));
  if (!span)
    return {};
  const std::int64_t kind = row.integer(Kind).value_or(0);
  const bool known = kind > 0 && kind < static_cast<std::int64_t>(std::size(kCopies));
  const CopyWord& word = kCopies[known ? kind : 0];
  model::Copy copy;
  copy.id = context_.writer.reserveId<model::CopyId>();
  copy.work = workOf(row, *span);
  copy.work.bytes = row.integer(Bytes);
  copy.work.graphNodeId = row.integer(CopyNode);
  copy.kind = word.kind;
  SONDE_TRY_ASSIGN(copy.work.nameId,
                   context_.writer.intern(fmt::format("Memcpy {} ({} -> {})",
                                                      word.text,
                                                      memoryOf(row.integer(From)),
                                                      memoryOf(row.integer(To)))));
  if (word.kind == CopyKind::HostToDevice)
    copy.pinned = pinnedOf(row.integer(From));
  if (word.kind == CopyKind::DeviceToHost)
    copy.pinned = pinnedOf(row.integer(To));
  if (const auto device = row.integer(ToDevice); device && word.kind == CopyKind::PeerToPeer) {
    const std::size_t process = processOf(row);
    copy.peerDeviceId = context_.places.device(process, ordinalOf(process, *device));
  }
  return add(copy, row);
}

Result<void> NsightDevice::set(const NsightTable& row) {
  const auto span = context_.spanOf(row.integer(Start), row.integer(End));
  if (!span)
    return {};
  model::Copy copy;
  copy.id = context_.writer.reserveId<model::CopyId>();
  copy.work = workOf(row, *span);
  copy.work.bytes = row.integer(SetBytes);
  copy.work.graphNodeId = row.integer(SetNode);
  copy.kind = CopyKind::Set;
  const auto memory = row.integer(MemoryKind);
  SONDE_TRY_ASSIGN(copy.work.nameId,
                   context_.writer.intern(fmt::format(
                       "Memset ({})", memory ? memoryOf(memory) : std::string_view("Device"))));
  return add(copy, row);
}

Result<void> NsightDevice::sync(const NsightTable& row) {
  constexpr std::int64_t kNoStream = 0xFFFFFFFF;
  const auto kind = syncKindOf(row.integer(SyncType));
  if (!kind) {
    ++context_.account.notKept;
    return {};
  }
  const auto span = context_.spanOf(row.integer(Start), row.integer(End));
  if (!span)
    return {};
  model::Sync sync;
  sync.id = context_.writer.reserveId<model::SyncId>();
  const std::int64_t stream = row.integer(Stream).value_or(kNoStream);
  if (kind != model::SyncKind::Context && stream >= 0 && stream < kNoStream)
    sync.streamId = streamOf(row);
  sync.kind = *kind;
  sync.eventId = row.integer(EventId);
  sync.startNs = span->startNs;
  sync.durNs = span->durNs;
  sync.correlationId = row.integer(Correlation);
  return add(sync, row);
}

Result<void> NsightDevice::finish() {
  for (auto& [process, collectives] : collectives_)
    SONDE_TRY(collectives.finish(context_.writer,
                                 context_.places.idOf(process),
                                 context_.places.rankOf(process),
                                 context_.places.worldSizeOf(process),
                                 0));
  return {};
}

}  // namespace sonde::ingest
