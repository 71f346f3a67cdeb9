#include "collector/preload/nccl/nccl_same_call.h"

#include "collector/core/emit.h"
#include "collector/core/platform/bounded.h"
#include "collector/preload/nccl/nccl_thread.h"

#include <atomic>

namespace sonde::preload::nccl {
namespace {

constexpr std::uint64_t kPlaces = 8192;  // a power of 2
constexpr std::uint64_t kAlike = 64;

// A call's generation << 32 | the lowest bits of its number << 12 | its index; 0: free.
using Entry = std::uint64_t;
constexpr std::uint64_t kIndexBits = 12;
constexpr std::uint64_t kNumberMask = 0xf'ffff;
static_assert(kMaxCalls == 1u << kIndexBits);

constinit std::atomic<Entry> gPlaces[kPlaces]{};
constinit std::atomic<bool> gKept{false};

// The facts that a call and its report have in common.
struct Likeness {
  std::uint64_t op;
  std::uint64_t bytes;
  const void* send;
  const void* receive;
  std::int32_t peer;
  bool operator==(const Likeness&) const noexcept = default;
};

Likeness likenessOf(const Call& call) noexcept {
  return {call.record.header.detail, call.bufferBytes, call.send, call.receive, call.record.peer};
}

Likeness likenessOf(const CallFacts& facts) noexcept {
  return {static_cast<std::uint64_t>(facts.function->op),
          facts.count * facts.element.bytes,
          facts.send,
          facts.receive,
          facts.peer};
}

// The first of the kAlike places.
std::uint64_t placeOf(const Likeness& likeness) noexcept {
  std::uint64_t hash = likeness.op << 32 ^ static_cast<std::uint32_t>(likeness.peer);
  for (const std::uint64_t part : {likeness.bytes,
                                   reinterpret_cast<std::uint64_t>(likeness.send),
                                   reinterpret_cast<std::uint64_t>(likeness.receive)}) {
    hash = (hash ^ part) * 0x9e37'79b9'7f4a'7c15;
    hash ^= hash >> 32;
  }
  return hash % kPlaces;
}

std::atomic<Entry>& placeAt(std::uint64_t at) noexcept {
  return gPlaces[at % kPlaces];
}

Entry entryOf(Handle handle, std::uint64_t number) noexcept {
  return std::uint64_t{handle.generation} << 32 | (number & kNumberMask) << kIndexBits |
         handle.index;
}

Handle handleOf(Entry entry) noexcept {
  return {HandleKind::Call,
          static_cast<std::uint32_t>(entry >> 32),
          static_cast<std::uint32_t>(entry & (kMaxCalls - 1))};
}

bool isOlder(Entry one, Entry other) noexcept {
  return (((one >> kIndexBits) - (other >> kIndexBits)) & kNumberMask) > kNumberMask / 2;
}

bool replace(std::uint64_t at, Entry before, Entry after) noexcept {
  return placeAt(at).compare_exchange_strong(before, after, std::memory_order_acq_rel);
}

bool putIntoFree(std::uint64_t first, Entry entry) noexcept {
  for (std::uint64_t at = first; at < first + kAlike; ++at) {
    const Entry there = placeAt(at).load(std::memory_order_acquire);
    if ((there == 0 || !isUntold(handleOf(there))) && replace(at, there, entry))
      return true;
  }
  return false;
}

struct Found {
  Entry entry = 0;  // 0: none
  std::uint64_t at = 0;
};

// Returns the oldest call for which matches(handle) is true.
template <typename Matches>
Found findOldest(std::uint64_t first, Matches matches) noexcept {
  Found found;
  for (std::uint64_t at = first; at < first + kAlike; ++at) {
    const Entry there = placeAt(at).load(std::memory_order_acquire);
    if (there == 0 || (found.entry != 0 && !isOlder(there, found.entry)))
      continue;
    if (isUntold(handleOf(there)) && matches(handleOf(there)))
      found = {there, at};
  }
  return found;
}

bool isIn(Handle communicator, Handle call) noexcept {
  CallIdentity identity;
  return readCall(call, identity) && (identity.communicator == resolve(communicator) ||
                                      mayBe(communicator, identity.communicator));
}

bool isLike(Handle handle, const Likeness& likeness) noexcept {
  Call call;
  return readCall(handle, call) && likenessOf(call) == likeness;
}

// Whether the call is in the thread's open group, whose calls have not been launched.
bool isOfOpenGroup(Handle handle) noexcept {
  const core::ThreadState* const thread = core::tState;
  CallIdentity call;
  return core::isCurrent(thread) && callsOf(*thread).groups > 0 && readCall(handle, call) &&
         call.thread == thread && call.number > callsOf(*thread).before;
}

void displaceOldest(std::uint64_t first, Entry entry) noexcept {
  const Found oldest = findOldest(first, [](Handle) { return true; });
  const bool placed = oldest.entry != 0 && replace(oldest.at, oldest.entry, entry);
  if (!placed || isOfOpenGroup(handleOf(oldest.entry)))
    core::countLoss(
        wire::Probe::Nccl, wire::RecordKind::CollectivePart, wire::LossReason::Definitions);
}

}  // namespace

void keepCalls() noexcept {
  gKept.store(true, std::memory_order_relaxed);
}

void keepCall(Handle handle) noexcept {
  Call call;
  if (!gKept.load(std::memory_order_relaxed) || !isUntold(handle) || !readCall(handle, call))
    return;
  const std::uint64_t first = placeOf(likenessOf(call));
  const Entry entry = entryOf(handle, call.identity.number);
  if (!putIntoFree(first, entry))
    displaceOldest(first, entry);
}

Handle takeSameCall(Handle communicator, const CallFacts& facts) noexcept {
  const Likeness likeness = likenessOf(facts);
  const std::uint64_t first = placeOf(likeness);
  // Tries again if another launch has taken a call meanwhile, but not endlessly.
  for (int tries = 0; tries < core::kMostTries; ++tries) {
    const Found found = findOldest(
        first, [&](Handle call) { return isIn(communicator, call) && isLike(call, likeness); });
    if (found.entry == 0)
      return {};
    replace(found.at, found.entry, 0);
    if (tellOfCall(handleOf(found.entry)))
      return handleOf(found.entry);
  }
  return {};
}

}  // namespace sonde::preload::nccl
