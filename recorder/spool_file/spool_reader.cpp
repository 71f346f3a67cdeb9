#include "recorder/spool_file/spool_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace sonde::recorder {
namespace {

using wire::kSlotBytes;
using wire::SlotState;

constexpr std::uint32_t kSlotHeaderBytes = sizeof(wire::SlotHeader);

Error corrupt(const std::filesystem::path& path, const char* what) {
  return {ErrorCode::Corrupt, fmt::format("{}: {}", path.string(), what)};
}

// The current tick of the process's clock.
std::uint64_t ticksOf(const wire::FileHeader& header) {
#if defined(__x86_64__)
  if (header.clock == wire::ClockKind::Tsc)
    return __rdtsc();
#endif
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  const std::int64_t begunNs = header.startMonotonicNs - header.testOffsetNs;
  const double drift =
      static_cast<double>(ns - begunNs) * static_cast<double>(header.testDriftPpb) / 1e9;
  return static_cast<std::uint64_t>(ns + header.testOffsetNs + static_cast<std::int64_t>(drift));
}

Result<SpoolIdentity> readIdentity(const SpoolMapping& file) {
  const wire::FileHeader& from = file.header();
  if (std::memcmp(from.magic, wire::kSpoolMagic, sizeof from.magic) != 0)
    return corrupt(file.path(),
                   "is not a spool file: it does not begin with the spool's magic bytes");
  if (from.version != wire::kSpoolVersion)
    return Error{ErrorCode::Unsupported,
                 fmt::format("{}: spool version {}, this Sonde reads {}",
                             file.path().string(),
                             from.version,
                             wire::kSpoolVersion)};
  if (from.slotBytes != kSlotBytes || from.pid <= 0)
    return corrupt(file.path(), "has a damaged header");
  if (from.clock != wire::ClockKind::Tsc && from.clock != wire::ClockKind::Monotonic)
    return corrupt(file.path(), "has a damaged header: its clock is unknown");
  SpoolIdentity identity;
  identity.pid = from.pid;
  identity.parentPid = from.parentPid;
  identity.pidNamespace = from.pidNamespace;
  identity.startTime = from.startTime;
  identity.execCount = from.execCount;
  identity.clock = from.clock;
  identity.bootId.assign(from.bootId, ::strnlen(from.bootId, sizeof from.bootId));
  const std::uint32_t commandBytes = std::min(from.commandBytes, wire::kMaxCommandBytes);
  for (const char *at = from.command, *end = at + commandBytes; at < end;) {
    identity.command.emplace_back(at, ::strnlen(at, static_cast<std::size_t>(end - at)));
    at += identity.command.back().size() + 1;
  }
  identity.testOffsetNs = from.testOffsetNs;
  identity.testDriftPpb = from.testDriftPpb;
  identity.startTicks = from.startTicks;
  identity.startMonotonicNs = from.startMonotonicNs;
  identity.startRealtimeNs = from.startRealtimeNs;
  identity.forked = from.forked != 0;
  return identity;
}

}  // namespace

Result<SpoolReader> SpoolReader::open(const std::filesystem::path& path, Access access) {
  SONDE_TRY_ASSIGN(SpoolMapping file, SpoolMapping::open(path, access));
  SONDE_TRY_ASSIGN(SpoolIdentity identity, readIdentity(file));
  return SpoolReader(std::move(file), std::move(identity));
}

// Order matters: `committed` is 0 from the moment a slot is given back until its next claim is
// complete. So a seq that is read after a non-zero committed belongs to the same claim.
void SpoolReader::readSlotHeader(SpoolSlot& slot) const noexcept {
  const wire::SlotHeader& from = file_.slotHeader(slot.index);
  slot.committed = from.committed.load(std::memory_order_acquire);
  slot.seq = from.seq.load(std::memory_order_acquire);
  if (slot.committed == 0)
    return;
  slot.thread = from.thread;
  slot.scopeCount = from.scopeCount;
  slot.claimTicks = from.claimTicks;
  slot.firstRecord = from.firstRecord;
  slot.damaged = slot.scopeCount > wire::kMaxOpenScopes ||
                 slot.firstRecord < kSlotHeaderBytes + slot.scopeCount * sizeof(wire::OpenScope) ||
                 slot.firstRecord > slot.committed || slot.firstRecord % 8 != 0 ||
                 slot.committed > kSlotBytes || slot.committed % 8 != 0;
}

const std::vector<SpoolSlot>& SpoolReader::snapshot() {
  slots_.clear();
  // Slots claimed after this load are left for the next snapshot. If such a slot were listed, but
  // its thread's previous slot had been skipped a moment earlier, that thread's records would be
  // read out of order.
  const std::uint64_t horizon = file_.header().nextSeq.load(std::memory_order_acquire);
  const std::uint32_t count = file_.usableSlots();
  for (std::uint32_t index = 1; index < count; ++index) {
    const SlotState state = file_.table().state[index].load(std::memory_order_acquire);
    if (state != SlotState::Writing && state != SlotState::Full)
      continue;
    SpoolSlot slot;
    slot.index = index;
    slot.full = state == SlotState::Full;
    slot.seq = file_.slotHeader(index).seq.load(std::memory_order_acquire);
    if (slot.seq != 0 && slot.seq < horizon)
      slots_.push_back(slot);
  }
  std::sort(slots_.begin(), slots_.end(), [](const SpoolSlot& a, const SpoolSlot& b) {
    return a.seq != b.seq ? a.seq < b.seq : a.index < b.index;
  });
  // Only now, after every listed slot was seen claimed, are the ends final for all but a thread's
  // last slot.
  for (SpoolSlot& slot : slots_) {
    const std::uint64_t seen = slot.seq;
    readSlotHeader(slot);
    if (slot.seq != seen)
      slot.committed = 0;
  }
  return slots_;
}

std::span<const std::byte> SpoolReader::readRecords(const SpoolSlot& slot, std::uint32_t from) {
  from = std::max(from, slot.firstRecord);
  if (slot.damaged || from >= slot.committed || !file_.has(slot.index))
    return {};
  buffer_.resize(kSlotBytes);
  const std::size_t bytes = slot.committed - from;
  if (!file_.read(slot.index, from, bytes, buffer_.data()))
    return {};
  return {buffer_.data(), bytes};
}

std::span<const wire::OpenScope> SpoolReader::readScopes(const SpoolSlot& slot) {
  scopes_.clear();
  if (slot.damaged || slot.committed == 0 || !file_.has(slot.index))
    return {};
  scopes_.resize(slot.scopeCount);
  if (slot.scopeCount > 0)
    std::memcpy(scopes_.data(),
                file_.slotBase(slot.index) + kSlotHeaderBytes,
                slot.scopeCount * sizeof(wire::OpenScope));
  return scopes_;
}

void SpoolReader::release(const SpoolSlot& slot) noexcept {
  if (!file_.isWritable() || !file_.has(slot.index))
    return;
  // First, so that the next thread that claims the slot is not seen with its old contents.
  file_.slotHeader(slot.index).committed.store(0, std::memory_order_relaxed);
  SlotState expected = SlotState::Full;
  file_.table().state[slot.index].compare_exchange_strong(
      expected, SlotState::Free, std::memory_order_acq_rel);
}

LossTable SpoolReader::losses() const {
  const auto& from = file_.page<const wire::LossCounters>(wire::kLossOffset);
  LossTable copy{};
  for (std::size_t probe = 0; probe < copy.size(); ++probe)
    for (std::size_t kind = 0; kind < copy[probe].size(); ++kind)
      for (std::size_t reason = 0; reason < copy[probe][kind].size(); ++reason)
        copy[probe][kind][reason] = from.count[probe][kind][reason].load(std::memory_order_relaxed);
  return copy;
}

PluginLossTable SpoolReader::pluginLosses() const {
  const auto& from = file_.page<const wire::PluginLosses>(wire::kPluginLossOffset);
  PluginLossTable copy{};
  for (std::size_t plugin = 0; plugin < copy.size(); ++plugin)
    for (std::size_t call = 0; call < copy[plugin].size(); ++call)
      for (std::size_t mistake = 0; mistake < copy[plugin][call].size(); ++mistake)
        copy[plugin][call][mistake] =
            from.count[plugin][call][mistake].load(std::memory_order_relaxed);
  return copy;
}

bool SpoolReader::finished() const noexcept {
  return file_.header().finished.load(std::memory_order_acquire) != 0;
}

bool SpoolReader::hasBecomeAnother() const noexcept {
  return file_.header().leaving.load(std::memory_order_acquire) != 0;
}

std::optional<int> SpoolReader::exitStatus() const noexcept {
  const std::uint32_t finished = file_.header().finished.load(std::memory_order_acquire);
  if (finished < wire::kFinishedWithStatus)
    return std::nullopt;
  return static_cast<int>((finished - wire::kFinishedWithStatus) & 0xff);
}

std::uint64_t SpoolReader::allocatedBytes() const noexcept {
  const std::uint32_t slots = file_.header().allocatedSlots.load(std::memory_order_acquire);
  return std::uint64_t{std::min(slots, wire::kMaxSlots)} * kSlotBytes;
}

std::uint32_t SpoolReader::probeMask() const noexcept {
  return file_.page<const wire::ControlPage>(wire::kControlOffset).sources;
}

void SpoolReader::setRecording(wire::RecordingState state) noexcept {
  if (!file_.isWritable())
    return;
  auto& control = file_.page<wire::ControlPage>(wire::kControlOffset);
  wire::setGate(control.recording, control.recordings, wire::gateMaskOf(state), [this] {
    return ticksOf(file_.header());
  });
}

}  // namespace sonde::recorder
