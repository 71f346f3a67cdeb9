#include "collector/core/definitions.h"

#include "collector/core/emit.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/thread_state.h"

#include <string.h>
#include <sys/mman.h>

namespace sonde::core {
namespace {

using wire::DefinitionHeader;
using wire::DefinitionKind;
using wire::kSlotBytes;
using wire::SlotState;

constexpr std::uint32_t kTableSize = 1 << 16;
constexpr std::uint32_t kMaxStrings = kTableSize / 4 * 3;
constexpr std::uint64_t kMaxTextBytes = 8 << 20;  // each forked child has a copy in its own file

// id << 32 | offset of the StringDefinition in the file, in units of 8 bytes; 0: empty.
using Entry = std::atomic<std::uint64_t>;
Entry* gStrings;
std::atomic<std::uint32_t> gNextString{1};
std::uint32_t gLostName = 0;
std::atomic<std::uint64_t> gTextBytesUsed{0};  // of all texts in the table, as they are stored

// One bit per hash of a text that got no id, so that a lost name is counted once, however often it
// is used. Of 30,000 lost names 1.4 % share a bit with another.
constexpr std::uint64_t kLostBits = 1 << 20;
std::atomic<std::uint64_t> gLostNames[kLostBits / 64];

// The mapping that the table's offsets refer to: this process's, or in a child that could not
// attach still its parent's.
const char* gTextBase;
std::size_t gTextBytes;

std::atomic<std::uint32_t>& claimOf(DefinitionHeader* definition) noexcept {
  return reinterpret_cast<std::atomic<std::uint32_t>&>(definition->claim);
}

// NOLINTNEXTLINE(modernize-use-using): `using` takes no __extension__
__extension__ typedef unsigned __int128 Uint128;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  const auto product = static_cast<Uint128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t hashOf(const char* text, std::size_t length) noexcept {
  constexpr std::uint64_t kA = 0x9e37'79b9'7f4a'7c15;
  constexpr std::uint64_t kB = 0xe703'7ed1'a0b4'28db;
  std::uint64_t hash = length * kA;
  std::uint64_t word = 0;
  for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
    memcpy(&word, text, sizeof word);
    hash = mix(hash ^ word, kB);
  }
  word = 0;
  memcpy(&word, text, length);
  return mix(hash ^ word, kA);
}

const wire::StringDefinition* stringAt(const char* base, std::uint64_t entry) noexcept {
  return reinterpret_cast<const wire::StringDefinition*>(base + (entry & 0xffff'ffff) * 8);
}

bool holds(std::uint64_t entry, const char* text, std::size_t length) noexcept {
  const wire::StringDefinition* string = stringAt(gTextBase, entry);
  return string->length == length && memcmp(string + 1, text, length) == 0;
}

std::uint64_t storedBytes(std::size_t length) noexcept {
  return (sizeof(wire::StringDefinition) + length + 7) / 8 * 8;
}

// Whether the table may take another text, if at most this many quarters of it may be used.
bool mayTake(std::size_t length, std::uint32_t quarters = 4) noexcept {
  return gNextString.load(std::memory_order_relaxed) < kMaxStrings / 4 * quarters &&
         gTextBytesUsed.load(std::memory_order_relaxed) + storedBytes(length) <=
             kMaxTextBytes / 4 * quarters;
}

// Defines a text under `id`, or with 0 under the next id. Returns its table entry; 0: no room.
std::uint64_t defineString(Spool& spool,
                           std::uint32_t id,
                           const char* text,
                           std::size_t length) noexcept {
  auto* string = reinterpret_cast<wire::StringDefinition*>(
      claimDefinition(spool, DefinitionKind::String, sizeof(wire::StringDefinition) + length));
  if (string == nullptr)
    return 0;
  string->id = id != 0 ? id : gNextString.fetch_add(1, std::memory_order_relaxed);
  string->length = static_cast<std::uint32_t>(length);
  memcpy(string + 1, text, length);
  commitDefinition(&string->header);
  const auto offset = static_cast<std::uint64_t>(reinterpret_cast<char*>(string) - spool.base);
  return std::uint64_t{string->id} << 32 | offset / 8;
}

// Starts a definitions slot after `tail` when the current one is full. If several threads try, one
// wins.
bool growSegment(Spool& spool, std::uint64_t tail) noexcept {
  wire::SlotHeader* slot = claimSlot(spool, SlotState::Definitions);
  if (slot == nullptr)
    return false;
  // Unclaimed claim words must be 0; a recycled slot still has its old records.
  memset(reinterpret_cast<char*>(slot) + sizeof *slot, 0, kSlotBytes - sizeof *slot);
  slot->thread = 0;
  slot->scopeCount = 0;
  slot->firstRecord = sizeof *slot;
  slot->committed.store(kSlotBytes, std::memory_order_release);
  const auto first =
      static_cast<std::uint64_t>(reinterpret_cast<char*>(slot) - spool.base) + sizeof *slot;
  if (!spool.header->definitionsTail.compare_exchange_strong(
          tail, first, std::memory_order_acq_rel)) {
    slot->committed.store(0, std::memory_order_relaxed);
    releaseSlot(spool, slot, SlotState::Free);
  }
  return true;
}

// In a child: replaces the parent's mapping except its first slot. A signal handler that attaches
// the child may have interrupted a function that has just looked up the address of the control
// page, the counters or the header. Zeros are there now, with which nothing is recorded.
void unmapParent(const char* base, std::size_t bytes) noexcept {
  rawSyscall(SYS_mmap,
             asLong(base),
             kSlotBytes,
             PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
             -1,
             0);
  rawSyscall(SYS_munmap, asLong(base + kSlotBytes), static_cast<long>(bytes - kSlotBytes));
}

// Returns the id for a text that gets none of its own. `forGood`: the table is full; otherwise the
// spool has no room now and the id is 0.
std::uint32_t loseName(std::uint64_t hash, bool forGood) noexcept {
  const std::uint64_t bit = hash / kTableSize % kLostBits;
  const std::uint64_t mask = std::uint64_t{1} << bit % 64;
  if ((gLostNames[bit / 64].fetch_or(mask, std::memory_order_relaxed) & mask) == 0)
    countLoss(wire::Probe::Process, wire::RecordKind::Name, wire::LossReason::Names);
  return forGood ? gLostName : 0;
}

// Gives an id to a text that had none when `at`, the first empty place for it, was read.
[[gnu::cold, gnu::noinline]] std::uint32_t internNew(const char* text,
                                                     std::size_t length,
                                                     std::uint64_t hash,
                                                     std::uint32_t at) noexcept {
  std::uint64_t mine = 0;
  for (std::uint32_t step = 0; step < kTableSize; ++step, at = (at + 1) % kTableSize) {
    std::uint64_t entry = gStrings[at].load(std::memory_order_acquire);
    if (entry == 0 && mine == 0) {
      if (!mayTake(length))
        return loseName(hash, true);
      mine = defineString(gSpool, 0, text, length);
      if (mine == 0)
        return loseName(hash, false);
      gTextBytesUsed.fetch_add(storedBytes(length), std::memory_order_relaxed);
    }
    if (entry == 0 && gStrings[at].compare_exchange_strong(entry, mine, std::memory_order_acq_rel))
      return static_cast<std::uint32_t>(mine >> 32);
    if (holds(entry, text, length))
      return static_cast<std::uint32_t>(entry >> 32);
  }
  return loseName(hash, true);
}

}  // namespace

DefinitionHeader* claimDefinition(Spool& spool, DefinitionKind kind, std::size_t bytes) noexcept {
  const auto size = static_cast<std::uint32_t>((bytes + 7) / 8 * 8);
  std::atomic<std::uint64_t>& tailWord = spool.header->definitionsTail;
  // Ends: each round moves the tail on, by this or another thread's definition, and the spool is
  // finite.
  for (;;) {
    std::uint64_t tail = tailWord.load(std::memory_order_acquire);
    const std::uint64_t slotEnd = (tail + kSlotBytes - 1) / kSlotBytes * kSlotBytes;
    if (tail == 0 || tail + size > slotEnd) {
      if (!growSegment(spool, tail))
        return nullptr;
      continue;
    }
    auto* definition = reinterpret_cast<DefinitionHeader*>(spool.base + tail);
    std::uint32_t claimed = 0;
    const bool mine =
        claimOf(definition).compare_exchange_strong(claimed, size, std::memory_order_acq_rel);
    const std::uint32_t step = mine ? size : claimed & DefinitionHeader::kSizeMask;
    tailWord.compare_exchange_strong(tail, tail + step, std::memory_order_acq_rel);
    if (mine) {
      definition->kind = kind;
      return definition;
    }
  }
}

void commitDefinition(DefinitionHeader* definition) noexcept {
  claimOf(definition).fetch_or(DefinitionHeader::kCommitted, std::memory_order_release);
}

bool prepareStrings() noexcept {
  const long address = rawSyscall(SYS_mmap,
                                  0,
                                  sizeof(Entry) * kTableSize,
                                  PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                  -1,
                                  0);
  if (address < 0 && address >= -4095)
    return false;
  gStrings = reinterpret_cast<Entry*>(address);
  return true;
}

void nameTheLost() noexcept {
  gLostName = intern("(name lost)");
}

std::uint32_t adoptStrings(Spool& spool) noexcept {
  const char* oldBase = gTextBase;
  const std::size_t oldBytes = gTextBytes;
  gTextBase = spool.base;
  gTextBytes = spool.mappedBytes;
  if (oldBase == nullptr)
    return 0;
  std::uint32_t lost = 0;
  for (std::uint32_t at = 0; at < kTableSize; ++at) {
    const std::uint64_t entry = gStrings[at].load(std::memory_order_relaxed);
    if (entry == 0)
      continue;
    const wire::StringDefinition* string = stringAt(oldBase, entry);
    const auto* text = reinterpret_cast<const char*>(string + 1);
    const std::uint64_t adopted = defineString(spool, string->id, text, string->length);
    gStrings[at].store(adopted, std::memory_order_relaxed);
    if (adopted == 0) {
      ++lost;
      gTextBytesUsed.fetch_sub(storedBytes(string->length), std::memory_order_relaxed);
    }
  }
  unmapParent(oldBase, oldBytes);
  return lost;
}

std::uint32_t intern(const char* text, std::size_t length) noexcept {
  if (length == 0 || !attached())
    return 0;
  const WriteMark mark;
  if (length > wire::kMaxStringBytes)
    length = wire::kMaxStringBytes;
  const std::uint64_t hash = hashOf(text, length);
  for (auto at = static_cast<std::uint32_t>(hash) % kTableSize;; at = (at + 1) % kTableSize) {
    const std::uint64_t entry = gStrings[at].load(std::memory_order_acquire);
    if (entry == 0)
      return internNew(text, length, hash, at);
    if (holds(entry, text, length))
      return static_cast<std::uint32_t>(entry >> 32);
  }
}

std::uint32_t intern(const char* text) noexcept {
  return intern(text, strlen(text));
}

std::uint32_t internWithin(std::uint32_t quarters, const char* text, std::size_t length) noexcept {
  if (mayTake(length, quarters))
    return intern(text, length);
  if (length == 0 || length > wire::kMaxStringBytes || !attached())
    return 0;
  const WriteMark mark;
  const std::uint64_t hash = hashOf(text, length);
  for (auto at = static_cast<std::uint32_t>(hash) % kTableSize;; at = (at + 1) % kTableSize) {
    const std::uint64_t entry = gStrings[at].load(std::memory_order_acquire);
    if (entry == 0)
      return 0;
    if (holds(entry, text, length))
      return static_cast<std::uint32_t>(entry >> 32);
  }
}

}  // namespace sonde::core
