#include "recorder/spool_file/spool_reader.h"

#include "recorder/launcher/descriptor_limit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>
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

Error systemError(const std::filesystem::path& path) {
  const int error = errno;
  return {launcher::isPassing(error) ? ErrorCode::Busy : ErrorCode::Io,
          fmt::format("{}: {}", path.string(), std::generic_category().message(error))};
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

}  // namespace

Result<SpoolReader> SpoolReader::open(const std::filesystem::path& path, Access access) {
  SpoolReader reader;
  reader.path_ = path;
  const int mode = access == Access::ReadWrite ? O_RDWR : O_RDONLY;
  const int fd = ::open(path.c_str(), mode | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return systemError(path);
  SONDE_TRY(reader.adopt(fd, access));
  SONDE_TRY(reader.readIdentity());
  return reader;
}

SpoolReader::SpoolReader(SpoolReader&& other) noexcept {
  *this = std::move(other);
}

SpoolReader& SpoolReader::operator=(SpoolReader&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(identity_, other.identity_);
  std::swap(fd_, other.fd_);
  std::swap(writable_, other.writable_);
  std::swap(base_, other.base_);
  std::swap(mappedBytes_, other.mappedBytes_);
  std::swap(damagedDefinitions_, other.damagedDefinitions_);
  std::swap(slots_, other.slots_);
  std::swap(definitionSlots_, other.definitionSlots_);
  std::swap(buffer_, other.buffer_);
  std::swap(scopes_, other.scopes_);
  return *this;
}

SpoolReader::~SpoolReader() {
  if (base_ != nullptr)
    ::munmap(base_, mappedBytes_);
  closeFile();
}

void SpoolReader::closeFile() noexcept {
  if (fd_ >= 0)
    ::close(std::exchange(fd_, -1));
}

Result<void> SpoolReader::adopt(int fd, Access access) {
  fd_ = fd;
  writable_ = access == Access::ReadWrite;
  struct stat info {};
  if (::fstat(fd, &info) != 0)
    return systemError(path_);
  if (!S_ISREG(info.st_mode) || info.st_size < static_cast<off_t>(kSlotBytes))
    return corrupt(path_, "is no spool file, or was cut short: its header should take 64 KiB");
  const auto bytes = std::min<std::size_t>(static_cast<std::size_t>(info.st_size),
                                           std::size_t{wire::kMaxSlots} * kSlotBytes);
  const int protection = writable_ ? PROT_READ | PROT_WRITE : PROT_READ;
  void* address = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED)
    return systemError(path_);
  base_ = static_cast<std::byte*>(address);
  mappedBytes_ = bytes;
  return {};
}

Result<void> SpoolReader::readIdentity() {
  const wire::FileHeader& from = header();
  if (std::memcmp(from.magic, wire::kSpoolMagic, sizeof from.magic) != 0)
    return corrupt(path_, "is no spool file: it does not begin with the spool's magic bytes");
  if (from.version != wire::kSpoolVersion)
    return Error{ErrorCode::Unsupported,
                 fmt::format("{}: spool version {}, this Sonde reads {}",
                             path_.string(),
                             from.version,
                             wire::kSpoolVersion)};
  if (from.slotBytes != kSlotBytes || from.pid <= 0)
    return corrupt(path_, "has a damaged header");
  if (from.clock != wire::ClockKind::Tsc && from.clock != wire::ClockKind::Monotonic)
    return corrupt(path_, "has a damaged header: its clock is none that exists");
  identity_.pid = from.pid;
  identity_.parentPid = from.parentPid;
  identity_.pidNamespace = from.pidNamespace;
  identity_.startTime = from.startTime;
  identity_.execCount = from.execCount;
  identity_.clock = from.clock;
  identity_.bootId.assign(from.bootId, ::strnlen(from.bootId, sizeof from.bootId));
  const std::uint32_t commandBytes = std::min(from.commandBytes, wire::kMaxCommandBytes);
  for (const char *at = from.command, *end = at + commandBytes; at < end;) {
    identity_.command.emplace_back(at, ::strnlen(at, static_cast<std::size_t>(end - at)));
    at += identity_.command.back().size() + 1;
  }
  identity_.testOffsetNs = from.testOffsetNs;
  identity_.testDriftPpb = from.testDriftPpb;
  identity_.startTicks = from.startTicks;
  identity_.startMonotonicNs = from.startMonotonicNs;
  identity_.startRealtimeNs = from.startRealtimeNs;
  identity_.forked = from.forked != 0;
  return {};
}

const wire::FileHeader& SpoolReader::header() const noexcept {
  return *reinterpret_cast<const wire::FileHeader*>(base_);
}

wire::SlotTable& SpoolReader::table() const noexcept {
  return *reinterpret_cast<wire::SlotTable*>(base_ + wire::kSlotTableOffset);
}

std::byte* SpoolReader::slotBase(std::uint32_t index) const noexcept {
  return base_ + std::size_t{index} * kSlotBytes;
}

// The file grows a chunk at a time while its process runs.
void SpoolReader::growMapping() {
  struct stat info {};
  if (::fstat(fd_, &info) != 0 || info.st_size <= static_cast<off_t>(mappedBytes_))
    return;
  const auto bytes = std::min<std::size_t>(static_cast<std::size_t>(info.st_size),
                                           std::size_t{wire::kMaxSlots} * kSlotBytes);
  void* address = ::mremap(base_, mappedBytes_, bytes, MREMAP_MAYMOVE);
  if (address == MAP_FAILED)
    return;
  base_ = static_cast<std::byte*>(address);
  mappedBytes_ = bytes;
}

std::uint32_t SpoolReader::usableSlots() {
  const std::uint32_t count =
      std::min(header().slotCount.load(std::memory_order_acquire), wire::kMaxSlots);
  if (std::size_t{count} * kSlotBytes > mappedBytes_)
    growMapping();
  return std::min(count, static_cast<std::uint32_t>(mappedBytes_ / kSlotBytes));
}

// Order matters: `committed` is 0 from the moment a slot is given back until its next claim is
// complete. So a seq that is read after a non-zero committed belongs to the same claim.
void SpoolReader::readSlotHeader(SpoolSlot& slot) const noexcept {
  const auto& from = *reinterpret_cast<const wire::SlotHeader*>(slotBase(slot.index));
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
  const std::uint64_t horizon = header().nextSeq.load(std::memory_order_acquire);
  const std::uint32_t count = usableSlots();
  for (std::uint32_t index = 1; index < count; ++index) {
    const SlotState state = table().state[index].load(std::memory_order_acquire);
    if (state != SlotState::Writing && state != SlotState::Full)
      continue;
    SpoolSlot slot;
    slot.index = index;
    slot.full = state == SlotState::Full;
    slot.seq = reinterpret_cast<const wire::SlotHeader*>(slotBase(index))
                   ->seq.load(std::memory_order_acquire);
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
  if (slot.damaged || from >= slot.committed || slot.index >= mappedBytes_ / kSlotBytes)
    return {};
  buffer_.resize(kSlotBytes);
  const std::size_t bytes = slot.committed - from;
  // Not through the mapping: its pages would count as the recorder's memory, and a disk error would
  // raise SIGBUS.
  const auto offset = static_cast<off_t>(std::size_t{slot.index} * kSlotBytes + from);
  if (::pread(fd_, buffer_.data(), bytes, offset) != static_cast<ssize_t>(bytes))
    return {};
  return {buffer_.data(), bytes};
}

std::span<const wire::OpenScope> SpoolReader::readScopes(const SpoolSlot& slot) {
  scopes_.clear();
  if (slot.damaged || slot.committed == 0 || slot.index >= mappedBytes_ / kSlotBytes)
    return {};
  scopes_.resize(slot.scopeCount);
  if (slot.scopeCount > 0)
    std::memcpy(scopes_.data(),
                slotBase(slot.index) + kSlotHeaderBytes,
                slot.scopeCount * sizeof(wire::OpenScope));
  return scopes_;
}

void SpoolReader::release(const SpoolSlot& slot) noexcept {
  if (!writable_ || slot.index >= mappedBytes_ / kSlotBytes)
    return;
  // First, so that the next thread that claims the slot is not seen with its old contents.
  reinterpret_cast<wire::SlotHeader*>(slotBase(slot.index))
      ->committed.store(0, std::memory_order_relaxed);
  SlotState expected = SlotState::Full;
  table().state[slot.index].compare_exchange_strong(
      expected, SlotState::Free, std::memory_order_acq_rel);
}

LossTable SpoolReader::losses() const {
  const auto& from = *reinterpret_cast<const wire::LossCounters*>(base_ + wire::kLossOffset);
  LossTable copy{};
  for (std::size_t probe = 0; probe < copy.size(); ++probe)
    for (std::size_t kind = 0; kind < copy[probe].size(); ++kind)
      for (std::size_t reason = 0; reason < copy[probe][kind].size(); ++reason)
        copy[probe][kind][reason] = from.count[probe][kind][reason].load(std::memory_order_relaxed);
  return copy;
}

PluginLossTable SpoolReader::pluginLosses() const {
  const auto& from = *reinterpret_cast<const wire::PluginLosses*>(base_ + wire::kPluginLossOffset);
  PluginLossTable copy{};
  for (std::size_t plugin = 0; plugin < copy.size(); ++plugin)
    for (std::size_t call = 0; call < copy[plugin].size(); ++call)
      for (std::size_t mistake = 0; mistake < copy[plugin][call].size(); ++mistake)
        copy[plugin][call][mistake] =
            from.count[plugin][call][mistake].load(std::memory_order_relaxed);
  return copy;
}

bool SpoolReader::finished() const noexcept {
  return header().finished.load(std::memory_order_acquire) != 0;
}

bool SpoolReader::hasBecomeAnother() const noexcept {
  return header().leaving.load(std::memory_order_acquire) != 0;
}

std::optional<int> SpoolReader::exitStatus() const noexcept {
  const std::uint32_t finished = header().finished.load(std::memory_order_acquire);
  if (finished < wire::kFinishedWithStatus)
    return std::nullopt;
  return static_cast<int>((finished - wire::kFinishedWithStatus) & 0xff);
}

std::uint64_t SpoolReader::allocatedBytes() const noexcept {
  const std::uint32_t slots = header().allocatedSlots.load(std::memory_order_acquire);
  return std::uint64_t{std::min(slots, wire::kMaxSlots)} * kSlotBytes;
}

std::uint32_t SpoolReader::probeMask() const noexcept {
  const auto& control = *reinterpret_cast<const wire::ControlPage*>(base_ + wire::kControlOffset);
  return control.sources;
}

void SpoolReader::setRecording(wire::RecordingState state) noexcept {
  if (!writable_)
    return;
  auto& control = *reinterpret_cast<wire::ControlPage*>(base_ + wire::kControlOffset);
  wire::setGate(control.recording, control.recordings, wire::gateMaskOf(state), [this] {
    return ticksOf(header());
  });
}

}  // namespace sonde::recorder
