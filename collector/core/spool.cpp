#include "collector/core/spool.h"

#include "collector/core/capture.h"
#include "collector/core/platform/apart.h"
#include "collector/core/platform/chunk.h"
#include "collector/core/platform/clock.h"
#include "collector/core/platform/spool_name.h"
#include "collector/core/platform/syscalls.h"
#include "collector/wire/recording_state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

namespace sonde::core {
namespace {

using wire::kSlotBytes;
using wire::SlotState;

constinit wire::ControlPage gNoControl{};  // all zero: nothing records

constexpr std::uint32_t kMostImages = 1 << 16;  // per process; later images are not recorded
constexpr std::uint64_t kRetryNs = 10'000'000;
// 100 µs or less on TSCs of 2 GHz and up, 200 µs in ns: about fifty times the duration of a search
// through all slots.
constexpr std::uint64_t kFullTicks = 200'000;

// Ends: a try fails only if the value has grown, which happens once per chunk.
void raiseTo(std::atomic<std::uint32_t>& value, std::uint32_t atLeast) noexcept {
  std::uint32_t now = value.load(std::memory_order_relaxed);
  while (now < atLeast && !value.compare_exchange_strong(now, atLeast, std::memory_order_release)) {
  }
}

// Makes the slots of `chunk` available; the first usable one gets the state `first`.
std::uint32_t openChunk(Spool& spool, Chunk chunk, SlotState first) noexcept {
  const std::uint32_t begin = chunk.firstSlot() + (chunk.index == 0 ? 1 : 0);  // 0 is the header
  for (std::uint32_t slot = begin; slot < chunk.endSlot(); ++slot)
    spool.slots->state[slot].store(slot == begin ? first : SlotState::Free,
                                   std::memory_order_release);
  spool.header->allocatedSlots.fetch_add(chunk.slots(), std::memory_order_relaxed);
  raiseTo(spool.header->slotCount, chunk.endSlot());
  return begin;
}

// Takes the first chunk of the file that no thread has or is trying to get. False: none is left. A
// chunk that could not be allocated is tried again.
bool takeChunk(Spool& spool, Chunk& chunk) noexcept {
  for (chunk = {0}; chunk.endSlot() <= spool.header->maxSlots; ++chunk.index) {
    std::atomic<bool>& taken = spool.chunkTaken[chunk.index];
    if (!taken.load(std::memory_order_relaxed) && !taken.exchange(true, std::memory_order_acquire))
      return true;
  }
  return false;
}

// Opens a file of the spool; negative on failure.
long openFile(Spool& spool, const char* path, long flags) noexcept {
  const long fd = apart(rawSyscall(
      SYS_openat, AT_FDCWD, asLong(path), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
  const bool unreachable = fd < 0 && fd != -ENOSPC && fd != -EDQUOT;
  spool.unreachable.store(unreachable, std::memory_order_relaxed);
  return fd;
}

// Returns a slot of a new chunk; 0 if none could be allocated.
std::uint32_t extend(Spool& spool, SlotState as) noexcept {
  const auto now = static_cast<std::uint64_t>(monotonicNs());
  if (now < spool.retryNs.load(std::memory_order_relaxed))
    return 0;
  Chunk chunk{0};
  if (takeChunk(spool, chunk)) {
    // Opened anew each time: the host could close a kept descriptor or dup over it.
    const long fd = openFile(spool, spool.path, 0);
    const bool allocated = fd >= 0 && allocateChunk(spool.session, fd, chunk);
    const bool usable = allocated && populateChunk(spool.base, chunk);
    if (allocated && !usable)
      releaseChunk(spool.session, fd, chunk);
    if (fd >= 0)
      rawSyscall(SYS_close, fd);
    if (usable)
      return openChunk(spool, chunk, as);
    spool.chunkTaken[chunk.index].store(false, std::memory_order_release);
  }
  spool.retryNs.store(now + kRetryNs, std::memory_order_relaxed);
  return 0;
}

std::uint32_t takeFree(Spool& spool, SlotState as) noexcept {
  const std::uint32_t count = spool.header->slotCount.load(std::memory_order_acquire);
  for (std::uint32_t slot = 1; slot < count; ++slot) {
    SlotState expected = SlotState::Free;
    if (spool.slots->state[slot].load(std::memory_order_relaxed) == SlotState::Free &&
        spool.slots->state[slot].compare_exchange_strong(expected, as, std::memory_order_acquire))
      return slot;
  }
  return 0;
}

// At most a sixteenth of a limited address space (ulimit -v); the host needs the rest.
std::size_t fairShare(std::size_t wanted) noexcept {
  rlimit limit{};
  if (rawSyscall(SYS_prlimit64, 0, RLIMIT_AS, 0, asLong(&limit)) != 0 ||
      limit.rlim_cur == RLIM_INFINITY)
    return wanted;
  const std::size_t share = limit.rlim_cur / 16;
  return wanted < share ? wanted : share;
}

// Maps the file at its maximum size. No page is accessible before its chunk is allocated. Otherwise
// a tool in the process that reads all accessible memory, such as valgrind's leak check, would get
// a SIGBUS at each word.
bool mapFile(Spool& spool, long fd, std::size_t wanted) noexcept {
  for (std::size_t bytes = fairShare(wanted); bytes >= kFirstChunkBytes; bytes /= 2) {
    const std::size_t whole = bytes / kFirstChunkBytes * kFirstChunkBytes;
    const long address =
        rawSyscall(SYS_mmap, 0, static_cast<long>(whole), PROT_NONE, MAP_SHARED, fd, 0);
    if (address > 0 || address < -4095) {
      spool.base = reinterpret_cast<char*>(address);
      spool.mappedBytes = whole;
      rawSyscall(SYS_madvise, address, static_cast<long>(whole), MADV_DONTDUMP);
      return true;
    }
  }
  return false;
}

void fillHeader(Spool& spool,
                const ImageIdentity& who,
                std::uint32_t execCount,
                bool forked) noexcept {
  wire::FileHeader& header = *spool.header;
  memcpy(header.magic, wire::kSpoolMagic, sizeof header.magic);
  header.version = wire::kSpoolVersion;
  header.slotBytes = kSlotBytes;
  header.pid = who.pid;
  header.parentPid = who.parentPid;
  header.pidNamespace = who.pidNamespace;
  header.startTime = who.startTime;
  header.execCount = execCount;
  header.clock = gClock.kind;
  memcpy(header.bootId, who.bootId, sizeof header.bootId);
  header.testOffsetNs = gClock.testOffsetNs;
  header.testDriftPpb = gClock.testDriftPpb;
  // Stored here because a short process may be gone before the recorder can read its /proc.
  header.commandBytes =
      static_cast<std::uint32_t>(readCommand(header.command, sizeof header.command));
  const ClockReading now = readClocks();
  header.startTicks = now.ticks;
  header.startMonotonicNs = now.monotonicNs;
  header.startRealtimeNs = now.realtimeNs;
  timespec cpu{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  header.startCpuNs = static_cast<std::uint64_t>(cpu.tv_sec) * 1'000'000'000 +
                      static_cast<std::uint64_t>(cpu.tv_nsec);
  header.maxSlots = static_cast<std::uint32_t>(spool.mappedBytes / kSlotBytes);
  header.forked = forked ? 1 : 0;
  header.nextSeq.store(1, std::memory_order_relaxed);
}

void adopt(Spool& spool) noexcept {
  spool.header = reinterpret_cast<wire::FileHeader*>(spool.base);
  spool.loss = reinterpret_cast<wire::LossCounters*>(spool.base + wire::kLossOffset);
  spool.pluginLoss = reinterpret_cast<wire::PluginLosses*>(spool.base + wire::kPluginLossOffset);
  spool.slots = reinterpret_cast<wire::SlotTable*>(spool.base + wire::kSlotTableOffset);
}

long openSession(const char* folder) noexcept {
  char path[sizeof Spool::path];
  if (strlen(folder) + sizeof "/session" > sizeof path)
    return -ENAMETOOLONG;
  strcpy(path, folder);
  strcat(path, "/session");
  return apart(rawSyscall(SYS_openat, AT_FDCWD, asLong(path), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
}

bool isThere(const char* path) noexcept {
  return rawSyscall(SYS_faccessat, AT_FDCWD, asLong(path), 0 /* F_OK */) == 0;
}

void discard(Spool& spool, const char* path, long fd) noexcept {
  releaseChunk(spool.session, fd, {0});
  rawSyscall(SYS_unlinkat, AT_FDCWD, asLong(path), 0);
  rawSyscall(SYS_close, fd);
  if (spool.base != nullptr)
    rawSyscall(SYS_munmap, asLong(spool.base), static_cast<long>(spool.mappedBytes));
  spool.base = nullptr;
  spool.header = nullptr;
}

// Creates the file with its first chunk allocated; negative on failure.
long makeFile(Spool& spool, const char* path) noexcept {
  const long fd = openFile(spool, path, O_CREAT | O_EXCL);
  if (fd < 0 || allocateChunk(spool.session, fd, {0}))
    return fd;
  rawSyscall(SYS_unlinkat, AT_FDCWD, asLong(path), 0);
  rawSyscall(SYS_close, fd);
  return -1;
}

// Maps the file at the size that the run's limit allows. False if that fails, or the file's first
// pages cannot be written.
bool mapByLimit(Spool& spool, long fd) noexcept {
  constexpr std::uint64_t kMost = std::uint64_t{wire::kMaxSlots} * kSlotBytes;
  const std::uint64_t limit = spool.session->limitBytes;
  return mapFile(spool, fd, limit < kMost ? limit : kMost) && populateChunk(spool.base, {0});
}

}  // namespace

Spool gSpool{.control = &gNoControl};

bool mayReach(const char* folder) noexcept {
  const long fd = openSession(folder);
  if (fd < 0)
    return fd == -EMFILE || fd == -ENFILE;  // an exec may free descriptors
  struct statx info {};
  const bool known =
      rawSyscall(SYS_statx, fd, asLong(""), AT_EMPTY_PATH, STATX_UID, asLong(&info)) == 0;
  rawSyscall(SYS_close, fd);
  const long user = rawSyscall(SYS_geteuid);
  return !known || user == 0 || user == static_cast<long>(info.stx_uid);
}

wire::SessionPage* mapSession(const char* folder) noexcept {
  const long fd = openSession(folder);
  if (fd < 0)
    return nullptr;
  struct statx info {};
  long address = -1;
  if (rawSyscall(SYS_statx, fd, asLong(""), AT_EMPTY_PATH, STATX_SIZE, asLong(&info)) == 0 &&
      info.stx_size >= sizeof(wire::SessionPage))
    address = rawSyscall(
        SYS_mmap, 0, sizeof(wire::SessionPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  rawSyscall(SYS_close, fd);
  if (address < 0 && address >= -4095)
    return nullptr;
  auto* session = reinterpret_cast<wire::SessionPage*>(address);
  if (session->version == wire::kSpoolVersion)
    return session;
  rawSyscall(SYS_munmap, address, sizeof(wire::SessionPage));
  return nullptr;
}

bool createSpool(Spool& spool, const char* folder, bool forked) noexcept {
  spool.base = nullptr;  // in a child: the parent's, which the strings still need
  const ImageIdentity who = readIdentity();
  std::uint32_t execCount = 0;
  // A file stays until its process is dead, so the number of existing files is the number of
  // earlier images.
  while (execCount < kMostImages && spoolPath(spool.path, folder, who, execCount, "") &&
         isThere(spool.path))
    ++execCount;
  if (execCount == kMostImages)
    return false;
  char making[kPathBytes];
  if (!spoolPath(making, folder, who, execCount, ".new"))
    return false;
  const long fd = makeFile(spool, making);
  if (fd < 0)
    return false;
  if (!mapByLimit(spool, fd)) {
    discard(spool, making, fd);
    return false;
  }
  adopt(spool);
  fillHeader(spool, who, execCount, forked);
  for (std::atomic<bool>& taken : spool.chunkTaken)
    taken.store(false, std::memory_order_relaxed);
  spool.chunkTaken[0].store(true, std::memory_order_relaxed);
  spool.retryNs.store(0, std::memory_order_relaxed);
  spool.fullUntilTicks.store(0, std::memory_order_relaxed);
  openChunk(spool, {0}, SlotState::Free);
  auto* control = reinterpret_cast<wire::ControlPage*>(spool.base + wire::kControlOffset);
  control->sources = spool.session->probeMask;
  control->probeMask.store(control->sources, std::memory_order_relaxed);
  control->capture.store(firstGate(spool.session->capture), std::memory_order_relaxed);
  const auto state =
      static_cast<wire::RecordingState>(spool.session->recording.load(std::memory_order_relaxed));
  control->recording.store(gateMaskOf(state), std::memory_order_relaxed);
  if (rawSyscall(SYS_renameat2,
                 AT_FDCWD,
                 asLong(making),
                 AT_FDCWD,
                 asLong(spool.path),
                 1 /* RENAME_NOREPLACE */) != 0) {
    discard(spool, making, fd);
    return false;
  }
  rawSyscall(SYS_close, fd);
  spool.control = control;
  return true;
}

bool isFull(const Spool& spool) noexcept {
  const std::uint64_t until = spool.fullUntilTicks.load(std::memory_order_relaxed);
  return until != 0 && readTicks() < until;
}

wire::LossReason whyNoRoom(const Spool& spool) noexcept {
  return spool.unreachable.load(std::memory_order_relaxed) ? wire::LossReason::Unreachable
                                                           : wire::LossReason::SpoolFull;
}

bool makePrivate(const Spool& spool) noexcept {
  const auto map = [&](long flags, long fd) {
    return rawSyscall(SYS_mmap,
                      asLong(spool.base),
                      static_cast<long>(spool.mappedBytes),
                      PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE | flags,
                      fd,
                      0) == asLong(spool.base);
  };
  const long fd = apart(
      rawSyscall(SYS_openat, AT_FDCWD, asLong(spool.path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  const bool copied = fd >= 0 && map(0, fd);
  if (fd >= 0)
    rawSyscall(SYS_close, fd);
  if (!copied)
    map(MAP_ANONYMOUS, -1);
  return copied;
}

wire::SlotHeader* claimSlot(Spool& spool, SlotState as) noexcept {
  if (isFull(spool))
    return nullptr;
  std::uint32_t index = takeFree(spool, as);
  if (index == 0)
    index = extend(spool, as);
  if (index == 0) {
    spool.fullUntilTicks.store(readTicks() + kFullTicks, std::memory_order_relaxed);
    return nullptr;
  }
  auto* slot = reinterpret_cast<wire::SlotHeader*>(spool.base + std::size_t{index} * kSlotBytes);
  slot->seq.store(spool.header->nextSeq.fetch_add(1, std::memory_order_relaxed),
                  std::memory_order_release);
  slot->claimTicks = readTicks();
  return slot;
}

void releaseSlot(Spool& spool, wire::SlotHeader* slot, SlotState as) noexcept {
  const auto offset = static_cast<std::size_t>(reinterpret_cast<char*>(slot) - spool.base);
  spool.slots->state[offset / kSlotBytes].store(as, std::memory_order_release);
}

}  // namespace sonde::core
