// ImageBuilder: passes each record and each definition to the part that makes its rows.
#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/spool/image_builder.h"

#include <algorithm>
#include <optional>

namespace sonde::ingest {
namespace {

// Loads a definition if it has at least the size of its kind.
template <typename Definition>
std::optional<Definition> loadDefinition(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Definition))
    return std::nullopt;
  return loadRecord<Definition>(bytes.data());
}

// Passes a definition of a fixed size on. False: it is damaged.
template <typename Definition, typename Rows>
bool passDefinition(std::span<const std::byte> bytes,
                    Rows& rows,
                    void (Rows::*use)(const Definition&)) {
  const auto definition = loadDefinition<Definition>(bytes);
  if (definition)
    (rows.*use)(*definition);
  return definition.has_value();
}

}  // namespace

const std::array<ImageBuilder::Handler, static_cast<std::size_t>(wire::RecordKind::Count)>
    ImageBuilder::kHandlers = {
        nullptr,
        &pass<&ImageBuilder::scopes_, &ScopeRows::onScopeBegin>,
        &pass<&ImageBuilder::scopes_, &ScopeRows::onScopeEnd>,
        &pass<&ImageBuilder::calls_, &CallRows::onCall>,
        &pass<&ImageBuilder::scopes_, &ScopeRows::onRangeBegin>,
        &pass<&ImageBuilder::scopes_, &ScopeRows::onRangeEnd>,
        &pass<&ImageBuilder::calls_, &CallRows::onMark>,
        &pass<&ImageBuilder::iterations_, &IterationRows::onScalar>,
        &pass<&ImageBuilder::iterations_, &IterationRows::onIterationInfo>,
        &pass<&ImageBuilder::processRows_, &ProcessRows::onArg>,
        &pass<&ImageBuilder::communicators_, &CommunicatorRows::onCollective>,
        &pass<&ImageBuilder::channels_, &ChannelRows::onTransfer>,
        &pass<&ImageBuilder::processRows_, &ProcessRows::onClockSync>,
        &pass<&ImageBuilder::processRows_, &ProcessRows::onThreadEnd>,
        &pass<&ImageBuilder::processRows_, &ProcessRows::onFork>,
        &pass<&ImageBuilder::processRows_, &ProcessRows::onExec>,
        &pass<&ImageBuilder::deviceCalls_, &DeviceCallRows::onDeviceCall>,
        &pass<&ImageBuilder::deviceCalls_, &DeviceCallRows::onWork<wire::Kernel>>,
        &pass<&ImageBuilder::deviceCalls_, &DeviceCallRows::onWork<wire::DeviceCopy>>,
        &pass<&ImageBuilder::deviceCalls_, &DeviceCallRows::onWork<wire::DeviceSync>>,
        &pass<&ImageBuilder::deviceCalls_, &DeviceCallRows::onMemory>,
        &pass<&ImageBuilder::communicators_, &CommunicatorRows::onCollectivePart>,
        &pass<&ImageBuilder::deviceCalls_, &DeviceCallRows::onMetric>,
        &pass<&ImageBuilder::calls_, &CallRows::onFileAccess>,
        &pass<&ImageBuilder::channels_, &ChannelRows::onMessage>,
        &pass<&ImageBuilder::calls_, &CallRows::onHandoff>,
        [](ImageBuilder& image, ImageThread& thread, const std::byte* at) {
          image.onStackSample(thread, at);
        },
        &pass<&ImageBuilder::iterations_, &IterationRows::onTensor>,
        &pass<&ImageBuilder::plugins_, &PluginRows::onCounterValue>,
        &pass<&ImageBuilder::plugins_, &PluginRows::onNote>,
        &pass<&ImageBuilder::hostMemory_, &HostMemoryRows::onAllocation>,
        &pass<&ImageBuilder::hostMemory_, &HostMemoryRows::onRelease>};

void ImageBuilder::addRecords(std::uint32_t index, std::span<const std::byte> records) {
  ImageThread& thread = threads_.threadOf(index);
  thread.changed = true;
  const WalkCount count =
      walkRecords(records, [&](const wire::RecordHeader& header, const std::byte* at) {
        kHandlers[static_cast<std::size_t>(header.kind)](*this, thread, at);
      });
  image_.counts.records += count.records;
  image_.counts.skipped += count.skipped;
}

// The thread's own records are in other slots, which have its state.
void ImageBuilder::addStill(const StillProcess& still, std::int64_t ns) {
  stacks_.addCode(still.maps, ns);
  for (const StillThread& thread : still.threads)
    stacks_.addStill(threads_.rowOf(static_cast<std::int32_t>(thread.tid), ns), ns, thread);
}

void ImageBuilder::addSamples(std::uint32_t index, std::span<const std::byte> records) {
  ImageThread& thread = threads_.threadOf(index);
  const WalkCount count =
      walkRecords(records, [&](const wire::RecordHeader& header, const std::byte* at) {
        if (header.kind == wire::RecordKind::StackSample)
          onStackSample(thread, at);
        else
          ++image_.counts.damaged;
      });
  image_.counts.records += count.records;
  image_.counts.skipped += count.skipped;
}

void ImageBuilder::onStackSample(const ImageThread& thread, const std::byte* at) {
  const auto header = loadRecord<wire::RecordHeader>(at);
  if (!stacks_.add(thread.row.id, {at, header.size}))
    ++image_.counts.damaged;
  image_.lastNs = std::max(image_.lastNs, stacks_.lastNs());
}

bool ImageBuilder::defineString(std::span<const std::byte> bytes) {
  const auto string = loadDefinition<wire::StringDefinition>(bytes);
  if (!string || string->length > bytes.size() - sizeof *string)
    return false;
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + sizeof *string;
  return image_.dictionary.define(string->id, {text, string->length});
}

bool ImageBuilder::defineCode(std::span<const std::byte> bytes) {
  const auto code = loadDefinition<wire::CodeDefinition>(bytes);
  if (!code || code->length > bytes.size() - sizeof *code)
    return false;
  addCode({reinterpret_cast<const char*>(bytes.data()) + sizeof *code, code->length});
  return true;
}

void ImageBuilder::define(std::span<const std::byte> bytes) {
  const auto header = loadDefinition<wire::DefinitionHeader>(bytes);
  if (!header)
    return;
  switch (header->kind) {
    case wire::DefinitionKind::String:
      if (!defineString(bytes))
        ++image_.counts.damaged;
      return;
    case wire::DefinitionKind::Code:
      if (!defineCode(bytes))
        ++image_.counts.damaged;
      return;
    case wire::DefinitionKind::Thread:
    case wire::DefinitionKind::ThreadName:
    case wire::DefinitionKind::Channel:
    case wire::DefinitionKind::Communicator:
    case wire::DefinitionKind::Device:
    case wire::DefinitionKind::Stream:
    case wire::DefinitionKind::Plugin:
    case wire::DefinitionKind::Counter:
      waiting_.emplace_back(bytes.begin(), bytes.end());
      return;
  }
  ++image_.counts.skipped;
}

bool ImageBuilder::defineRow(std::span<const std::byte> bytes) {
  switch (loadRecord<wire::DefinitionHeader>(bytes.data()).kind) {
    case wire::DefinitionKind::Thread:
      return passDefinition(bytes, threads_, &ThreadRows::define);
    case wire::DefinitionKind::ThreadName:
      return passDefinition(bytes, threads_, &ThreadRows::defineName);
    case wire::DefinitionKind::Channel:
      return channels_.define(bytes);
    case wire::DefinitionKind::Plugin:
      return passDefinition(bytes, plugins_, &PluginRows::definePlugin);
    case wire::DefinitionKind::Counter:
      return passDefinition(bytes, plugins_, &PluginRows::defineCounter);
    case wire::DefinitionKind::Device:
      return passDefinition<wire::DeviceDefinition>(bytes, devices_, &DeviceRows::define);
    case wire::DefinitionKind::Stream:
      return passDefinition<wire::StreamDefinition>(bytes, devices_, &DeviceRows::define);
    default:
      return communicators_.define(bytes);
  }
}

void ImageBuilder::definitionsDone() {
  for (const std::vector<std::byte>& bytes : waiting_)
    if (!defineRow(bytes))
      ++image_.counts.damaged;
  waiting_.clear();
}

}  // namespace sonde::ingest
