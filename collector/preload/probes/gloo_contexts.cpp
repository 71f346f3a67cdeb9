#include "collector/preload/probes/gloo_contexts.h"

#include "collector/core/communication.h"
#include "collector/core/emit.h"
#include "collector/core/hooks.h"
#include "collector/core/thread_state.h"
#include "collector/preload/probes/gloo_library.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace sonde::preload::gloo {

constexpr std::size_t kTagCells = 128;
constexpr std::size_t kKeyBytes = 160;
constexpr int kMaxMembers = 1024;

struct Context {
  std::atomic<const void*> address;  // nullptr: free; kTaken: being filled in
  std::uint32_t communicator;
  std::uint32_t key;  // interned, without "#n"
  int rank;
  int size;
  // By tag modulo kTagCells: how often a tag came again << 32 | tag last seen there; 0: none yet.
  std::atomic<std::uint64_t> tags[kTagCells];
};

namespace {

constexpr std::size_t kMaxContexts = 128;
Context gContexts[kMaxContexts];
const char kTaken = 0;

// How many communicators of each key there have been, and how many contexts of each size.
struct Count {
  std::atomic<std::uint64_t> what;
  std::atomic<std::uint32_t> count;
};
constexpr std::size_t kMaxCounts = 256;
Count gKeys[kMaxCounts];
Count gSizes[kMaxCounts];

std::uint32_t countUp(Count (&counts)[kMaxCounts], std::uint64_t what) noexcept {
  for (Count& entry : counts) {
    std::uint64_t there = 0;
    if (entry.what.compare_exchange_strong(there, what) || there == what)
      return entry.count.fetch_add(1);
  }
  return 0;
}

std::size_t appendNumber(char* text, std::size_t length, std::uint64_t number) noexcept {
  char digits[20];
  std::size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (count > 0)
    text[length++] = digits[--count];
  return length;
}

int environmentNumber(const char* name) noexcept {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? -1 : std::atoi(text);
}

// The ranks of the members in order, where they can be known: by the hint, or because the group is
// the whole job.
const std::int32_t* membersOf(int rank, int size, std::int32_t (&ranks)[kMaxMembers]) noexcept {
  if (size <= 0 || size > kMaxMembers)
    return nullptr;
  const bool everyone =
      environmentNumber("WORLD_SIZE") == size && environmentNumber("RANK") == rank;
  for (int at = 0; at < size; ++at)
    ranks[at] = everyone ? at : -1;
  if (!everyone && rank >= 0 && rank < size)
    ranks[rank] = environmentNumber("RANK");
  return ranks;
}

// A context of a live communicator with this key: groups with several network devices have one for
// each.
const Context* sibling(const Context* own, std::uint32_t key) noexcept {
  for (const Context& other : gContexts) {
    const void* address = other.address.load(std::memory_order_acquire);
    if (&other != own && address != nullptr && address != &kTaken && other.key == key)
      return &other;
  }
  return nullptr;
}

void define(
    Context* context, const char* key, const std::int32_t* ranks, int rank, int size) noexcept {
  context->key = core::intern(key);
  if (const Context* other = sibling(context, context->key); other != nullptr) {
    context->communicator = other->communicator;
    return;
  }
  char unique[kKeyBytes];
  std::size_t length = std::strlen(key);
  std::memcpy(unique, key, length);
  if (const std::uint32_t before = countUp(gKeys, context->key); before > 0) {
    unique[length++] = '#';
    length = appendNumber(unique, length, before + 1);
  }
  unique[length] = '\0';
  context->communicator = core::defineCommunicator(unique, ranks, size, rank, wire::Probe::Gloo);
  if (context->communicator == 0)
    core::countLoss(wire::Probe::Gloo, wire::RecordKind::Collective, wire::LossReason::Definitions);
}

void defineFromHint(Context* context, int rank, int size) noexcept {
  core::CommunicatorHint hint;
  if (core::readCommunicatorHint(hint) && hint.size == size) {
    const bool ranksKnown = size <= core::CommunicatorHint::kMaxRanks;
    return define(context, hint.key, ranksKnown ? hint.ranks : nullptr, rank, size);
  }
  char key[kKeyBytes] = "gloo:";
  std::size_t length = appendNumber(key, 5, static_cast<std::uint64_t>(size));
  key[length++] = ':';
  length = appendNumber(key, length, countUp(gSizes, static_cast<std::uint64_t>(size) + 1));
  key[length] = '\0';
  std::int32_t ranks[kMaxMembers];
  define(context, key, membersOf(rank, size, ranks), rank, size);
}

Context* findExisting(const void* address) noexcept {
  for (Context& context : gContexts) {
    if (context.address.load(std::memory_order_acquire) == address)
      return &context;
  }
  return nullptr;
}

void add(const void* address, int rank, int size) noexcept {
  for (Context& context : gContexts) {
    const void* nobody = nullptr;
    if (!context.address.compare_exchange_strong(nobody, &kTaken))
      continue;
    for (std::atomic<std::uint64_t>& tag : context.tags)
      tag.store(0, std::memory_order_relaxed);
    context.rank = rank;
    context.size = size;
    defineFromHint(&context, rank, size);
    context.address.store(address, std::memory_order_release);
    return;
  }
}

}  // namespace

void destroyed(const void* address) noexcept {
  if (Context* context = findExisting(address); context != nullptr)
    context->address.store(nullptr, std::memory_order_release);
}

// A constructor that threw, or a destructor that was not seen, leaves an entry of the same address
// behind.
void constructed(const void* address, int rank, int size) noexcept {
  destroyed(address);
  add(address, rank, size);
}

Caller findCaller(const void* address) noexcept {
  Context* context = findExisting(address);
  return context == nullptr ? Caller{} : Caller{context, context->rank, context->size};
}

std::uint32_t communicatorOf(const Context* context) noexcept {
  return context->communicator;
}

std::uint64_t nextSequence(Context* context, std::uint32_t tag) noexcept {
  std::atomic<std::uint64_t>& cell = context->tags[tag % kTagCells];
  constexpr std::uint64_t kRound = std::uint64_t{1} << 32;
  std::uint64_t seen = cell.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    const std::uint64_t rounds = seen / kRound;
    // Tags that only grow stay in round 1, which is written as 0 below; one that does not grow
    // starts the next.
    const bool again = seen != 0 && tag <= static_cast<std::uint32_t>(seen);
    next = (seen == 0 ? 1 : rounds + (again ? 1 : 0)) * kRound | tag;
  } while (!cell.compare_exchange_weak(seen, next, std::memory_order_relaxed));
  return next - kRound;
}

}  // namespace sonde::preload::gloo

// gloo::Context::Context(int, int, int) and ~Context(), complete and base object variants.
extern "C" {
SONDE_EXPORT void _ZN4gloo7ContextC1Eiii(void* self, int rank, int size, int base);
SONDE_EXPORT void _ZN4gloo7ContextC2Eiii(void* self, int rank, int size, int base);
SONDE_EXPORT void _ZN4gloo7ContextD1Ev(void* self);
SONDE_EXPORT void _ZN4gloo7ContextD2Ev(void* self);
}

using sonde::preload::gloo::RealGloo;

void _ZN4gloo7ContextC2Eiii(void* self, int rank, int size, int base) {
  static RealGloo<void (*)(void*, int, int, int)> real{"_ZN4gloo7ContextC2Eiii"};
  real()(self, rank, size, base);
  if (sonde::core::attached())
    sonde::preload::gloo::constructed(self, rank, size);
}

void _ZN4gloo7ContextC1Eiii(void* self, int rank, int size, int base) {
  _ZN4gloo7ContextC2Eiii(self, rank, size, base);
}

void _ZN4gloo7ContextD2Ev(void* self) {
  static RealGloo<void (*)(void*)> real{"_ZN4gloo7ContextD2Ev"};
  sonde::preload::gloo::destroyed(self);
  real()(self);
}

void _ZN4gloo7ContextD1Ev(void* self) {
  _ZN4gloo7ContextD2Ev(self);
}
