#include "tests/support/spool_builder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

namespace sonde::test {
namespace {

using wire::kSlotBytes;
using wire::SlotState;

constexpr std::uint32_t kSlotsAtATime = 16;
constexpr std::size_t kBytesAtATime = std::size_t{kSlotsAtATime} * kSlotBytes;

template <typename Definition>
std::vector<std::byte> bytesOf(const Definition& definition, std::string_view tail = {}) {
  std::vector<std::byte> bytes((sizeof definition + tail.size() + 7) / 8 * 8);
  std::memcpy(bytes.data(), &definition, sizeof definition);
  if (!tail.empty())
    std::memcpy(bytes.data() + sizeof definition, tail.data(), tail.size());
  return bytes;
}

std::string readLine(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

SpoolBuilder::SpoolBuilder(std::int32_t pid, wire::ClockKind clock) : bytes_(kBytesAtATime) {
  wire::FileHeader& to = header();
  std::memcpy(to.magic, wire::kSpoolMagic, sizeof to.magic);
  to.version = wire::kSpoolVersion;
  to.slotBytes = kSlotBytes;
  to.pid = pid;
  to.parentPid = 1;
  struct stat space {};
  if (::stat("/proc/self/ns/pid", &space) == 0)
    to.pidNamespace = space.st_ino;
  to.startTime = 77;
  to.clock = clock;
  const std::string bootId = readLine("/proc/sys/kernel/random/boot_id");
  std::memcpy(to.bootId, bootId.data(), std::min(bootId.size(), sizeof to.bootId - 1));
  to.startTicks = 1000;
  to.startMonotonicNs = 1000;
  to.startRealtimeNs = 1000;
  to.maxSlots = wire::kMaxSlots;
  to.nextSeq.store(1);
  to.slotCount.store(kSlotsAtATime);
  to.allocatedSlots.store(kSlotsAtATime);
  for (std::uint32_t index = 1; index < kSlotsAtATime; ++index)
    state(index).store(SlotState::Free);
}

wire::FileHeader& SpoolBuilder::header() {
  return *reinterpret_cast<wire::FileHeader*>(bytes_.data());
}

void SpoolBuilder::command(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments)
    text.append(argument).push_back('\0');
  header().commandBytes = static_cast<std::uint32_t>(text.copy(header().command, text.size()));
}

wire::PluginLosses& SpoolBuilder::pluginLosses() {
  return *reinterpret_cast<wire::PluginLosses*>(bytes_.data() + wire::kPluginLossOffset);
}

wire::LossCounters& SpoolBuilder::losses() {
  return *reinterpret_cast<wire::LossCounters*>(bytes_.data() + wire::kLossOffset);
}

std::atomic<SlotState>& SpoolBuilder::state(std::uint32_t index) {
  return reinterpret_cast<wire::SlotTable*>(bytes_.data() + wire::kSlotTableOffset)->state[index];
}

wire::SlotHeader& SpoolBuilder::slot(std::uint32_t index) {
  return *reinterpret_cast<wire::SlotHeader*>(bytes_.data() + std::size_t{index} * kSlotBytes);
}

std::uint32_t SpoolBuilder::claim(SlotState as) {
  std::uint32_t index = 1;
  while (index < header().slotCount.load() && state(index).load() != SlotState::Free)
    ++index;
  if (index == header().slotCount.load()) {
    bytes_.resize(bytes_.size() + kBytesAtATime);
    header().slotCount.fetch_add(kSlotsAtATime);
    header().allocatedSlots.fetch_add(kSlotsAtATime);
    for (std::uint32_t more = index; more < header().slotCount.load(); ++more)
      state(more).store(SlotState::Free);
  }
  state(index).store(as);
  wire::SlotHeader& to = slot(index);
  to.seq.store(header().nextSeq.fetch_add(1));
  to.thread = 0;
  to.scopeCount = 0;
  to.firstRecord = sizeof to;
  to.claimTicks = header().startTicks;
  to.committed.store(sizeof to);
  return index;
}

void SpoolBuilder::define(wire::DefinitionKind kind, std::vector<std::byte> definition) {
  if (definitionSlot_ == 0 ||
      slot(definitionSlot_).committed.load() + definition.size() > kSlotBytes) {
    definitionSlot_ = claim(SlotState::Definitions);
    std::memset(
        bytes_.data() + std::size_t{definitionSlot_} * kSlotBytes + sizeof(wire::SlotHeader),
        0,
        kSlotBytes - sizeof(wire::SlotHeader));
  }
  wire::DefinitionHeader head{
      static_cast<std::uint32_t>(definition.size()) | wire::DefinitionHeader::kCommitted, kind, 0};
  std::memcpy(definition.data(), &head, sizeof head);
  wire::SlotHeader& to = slot(definitionSlot_);
  std::memcpy(bytes_.data() + std::size_t{definitionSlot_} * kSlotBytes + to.committed.load(),
              definition.data(),
              definition.size());
  to.committed.fetch_add(static_cast<std::uint32_t>(definition.size()));
}

std::uint32_t SpoolBuilder::string(std::string_view text) {
  if (text.empty())
    return 0;
  const auto found = std::find(strings_.begin(), strings_.end(), text);
  const auto id = static_cast<std::uint32_t>(found - strings_.begin()) + 1;
  if (found != strings_.end())
    return id;
  strings_.emplace_back(text);
  wire::StringDefinition definition{};
  definition.id = id;
  definition.length = static_cast<std::uint32_t>(text.size());
  define(wire::DefinitionKind::String, bytesOf(definition, text));
  return id;
}

void SpoolBuilder::thread(std::uint32_t index, std::int32_t tid, std::uint64_t startTicks) {
  wire::ThreadDefinition definition{};
  definition.thread = index;
  definition.tid = tid;
  definition.startTicks = startTicks;
  define(wire::DefinitionKind::Thread, bytesOf(definition));
}

void SpoolBuilder::threadName(std::uint32_t index, std::string_view name) {
  wire::ThreadNameDefinition definition{};
  definition.thread = index;
  definition.name = string(name);
  define(wire::DefinitionKind::ThreadName, bytesOf(definition));
}

std::uint32_t SpoolBuilder::channel(wire::ChannelKind kind,
                                    std::string_view local,
                                    std::string_view remote) {
  wire::ChannelDefinition definition{};
  definition.id = nextChannel_++;
  definition.kind = kind;
  definition.localBytes = static_cast<std::uint16_t>(local.size());
  definition.remoteBytes = static_cast<std::uint16_t>(remote.size());
  definition.openTicks = header().startTicks;
  define(wire::DefinitionKind::Channel, bytesOf(definition, std::string(local).append(remote)));
  return definition.id;
}

void SpoolBuilder::device(std::uint32_t ordinal, std::string_view name, std::uint8_t uuid) {
  wire::DeviceDefinition definition{};
  definition.ordinal = ordinal;
  definition.name = string(name);
  definition.memoryBytes = std::uint64_t{80} << 30;
  definition.uuid[15] = uuid;
  define(wire::DefinitionKind::Device, bytesOf(definition));
}

std::uint32_t SpoolBuilder::stream(std::uint32_t device, std::uint32_t number) {
  wire::StreamDefinition definition{};
  definition.id = nextStream_++;
  definition.device = device;
  definition.context = 1;
  definition.number = number;
  define(wire::DefinitionKind::Stream, bytesOf(definition));
  return definition.id;
}

void SpoolBuilder::plugin(std::uint8_t number,
                          std::string_view name,
                          std::string_view category,
                          std::string_view version) {
  wire::PluginDefinition definition{};
  definition.name = string(name);
  definition.category = string(category);
  definition.version = string(version);
  definition.number = number;
  define(wire::DefinitionKind::Plugin, bytesOf(definition));
}

void SpoolBuilder::counter(std::uint32_t id,
                           std::uint8_t plugin,
                           std::string_view name,
                           std::string_view unit) {
  wire::CounterDefinition definition{};
  definition.id = id;
  definition.name = string(name);
  definition.unit = string(unit);
  definition.plugin = plugin;
  define(wire::DefinitionKind::Counter, bytesOf(definition));
}

std::uint32_t SpoolBuilder::communicator(std::string_view key,
                                         std::vector<std::int32_t> ranks,
                                         std::int32_t position) {
  wire::CommunicatorDefinition definition{};
  definition.id = nextCommunicator_++;
  definition.key = string(key);
  definition.size = static_cast<std::int32_t>(ranks.size());
  definition.position = position;
  definition.probe = wire::Probe::Gloo;
  define(wire::DefinitionKind::Communicator,
         bytesOf(definition,
                 {reinterpret_cast<const char*>(ranks.data()), ranks.size() * sizeof ranks[0]}));
  return definition.id;
}

std::uint32_t& SpoolBuilder::slotOf(std::uint32_t thread) {
  const auto found = std::find_if(
      slots_.begin(), slots_.end(), [&](const ThreadSlot& of) { return of.thread == thread; });
  if (found != slots_.end())
    return found->slot;
  slots_.push_back({thread, 0});
  return slots_.back().slot;
}

void SpoolBuilder::closeSlot(std::uint32_t thread) {
  std::uint32_t& current = slotOf(thread);
  if (current != 0)
    state(current).store(SlotState::Full);
  current = 0;
}

std::uint32_t SpoolBuilder::openSlot(std::uint32_t thread,
                                     const std::vector<wire::OpenScope>& scopes) {
  closeSlot(thread);
  const std::uint32_t index = claim(SlotState::Writing);
  wire::SlotHeader& to = slot(index);
  to.thread = thread;
  to.scopeCount = static_cast<std::uint32_t>(scopes.size());
  to.firstRecord += static_cast<std::uint32_t>(scopes.size() * sizeof(wire::OpenScope));
  if (!scopes.empty())
    std::memcpy(bytes_.data() + std::size_t{index} * kSlotBytes + sizeof to,
                scopes.data(),
                scopes.size() * sizeof(wire::OpenScope));
  to.committed.store(to.firstRecord);
  slotOf(thread) = index;
  return index;
}

void SpoolBuilder::append(std::uint32_t thread, std::span<const std::byte> record) {
  if (slotOf(thread) == 0 || slot(slotOf(thread)).committed.load() + record.size() > kSlotBytes)
    openSlot(thread);
  const std::uint32_t index = slotOf(thread);
  std::memcpy(bytes_.data() + std::size_t{index} * kSlotBytes + slot(index).committed.load(),
              record.data(),
              record.size());
  slot(index).committed.fetch_add(static_cast<std::uint32_t>(record.size()));
}

void SpoolBuilder::enter(std::uint32_t thread, std::span<const std::byte> record) {
  if (slotOf(thread) == 0)
    openSlot(thread);
  wire::OpenCalls& calls = slot(slotOf(thread)).calls;
  const std::uint64_t depth = calls.state.load() & wire::OpenCalls::kDepthMask;
  std::memcpy(calls.records[depth], record.data(), record.size());
  calls.state.fetch_add(2 * wire::OpenCalls::kVersion + 1);
}

std::uint32_t SpoolBuilder::begin(std::uint32_t thread,
                                  wire::SliceKind kind,
                                  std::string_view name,
                                  std::uint64_t ticks,
                                  wire::Probe probe) {
  wire::ScopeBegin record{};
  record.header.detail = static_cast<std::uint8_t>(kind);
  record.header.subject = string(name);
  record.ticks = ticks;
  record.token = nextToken_++;
  record.probe = probe;
  add(thread, wire::RecordKind::ScopeBegin, record);
  return record.token;
}

void SpoolBuilder::end(std::uint32_t thread, std::uint32_t token, std::uint64_t ticks) {
  wire::ScopeEnd record{};
  record.header.subject = token;
  record.ticks = ticks;
  add(thread, wire::RecordKind::ScopeEnd, record);
}

void SpoolBuilder::call(std::uint32_t thread,
                        wire::SliceKind kind,
                        std::string_view name,
                        std::uint64_t beginTicks,
                        std::uint64_t endTicks) {
  wire::Call record{};
  record.header.detail = static_cast<std::uint8_t>(kind);
  record.header.subject = string(name);
  record.beginTicks = beginTicks;
  record.endTicks = endTicks;
  add(thread, wire::RecordKind::Call, record);
}

void SpoolBuilder::argInt(std::uint32_t thread,
                          std::uint32_t token,
                          std::string_view key,
                          std::int64_t value) {
  wire::Arg record{};
  record.header.detail = static_cast<std::uint8_t>(wire::ArgType::Int);
  record.header.subject = string(key);
  record.bits = static_cast<std::uint64_t>(value);
  record.token = token;
  add(thread, wire::RecordKind::Arg, record);
}

void SpoolBuilder::clockSync(std::uint32_t thread, std::uint64_t ticks, std::int64_t monotonicNs) {
  wire::ClockSync record{};
  record.ticks = ticks;
  record.monotonicNs = monotonicNs;
  record.realtimeNs = monotonicNs;
  add(thread, wire::RecordKind::ClockSync, record);
}

std::string SpoolBuilder::fileName() {
  const wire::FileHeader& of = header();
  return fmt::format("{}-{}-{}-{}-{}.spool",
                     std::string(of.bootId, 8),
                     of.pidNamespace,
                     of.pid,
                     of.startTime,
                     of.execCount);
}

std::filesystem::path SpoolBuilder::write(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / fileName();
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes_.data()),
             static_cast<std::streamsize>(bytes_.size()));
  return path;
}

void SpoolBuilder::rewrite(const std::filesystem::path& folder) {
  std::fstream file(folder / fileName(), std::ios::binary | std::ios::in | std::ios::out);
  file.write(reinterpret_cast<const char*>(bytes_.data()),
             static_cast<std::streamsize>(bytes_.size()));
}

}  // namespace sonde::test
