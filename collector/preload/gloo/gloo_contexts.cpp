#include "collector/preload/gloo/gloo_contexts.h"

#include "collector/core/communication.h"
#include "collector/core/platform/bounded.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"
#include "collector/preload/common/job_members.h"
#include "collector/preload/gloo/gloo_library.h"

#include <atomic>
#include <cstddef>
#include <cstring>

namespace sonde::preload::gloo {

constexpr std::size_t kTagCells = 128;
constexpr std::size_t kKeyBytes = 160;
constexpr int kMaxMembers = core::CommunicatorHint::kMaxRanks;

struct Context {
  std::atomic<const void*> address;  // nullptr: free; kTaken: being filled in
  // A process image's generation << 32 | the id in its spool. Ignored if the generation is another
  // image's.
  std::atomic<std::uint64_t> communicator;
  std::atomic<std::uint32_t> defining;  // generation of the image that is defining it
  int rank;
  int size;
  std::uint64_t group;  // hash of its key without "#n"
  char key[kKeyBytes];
  bool membersKnown;
  std::int32_t members[kMaxMembers];
  // By tag modulo kTagCells: number of repetitions of a tag << 32 | last tag seen; 0: none yet.
  std::atomic<std::uint64_t> tags[kTagCells];
};

namespace {

constexpr std::size_t kMaxContexts = 128;
constinit Context gContexts[kMaxContexts]{};  // no constructor to run in every process
const char kTaken = 0;

// The number of communicators per key, and of contexts per size, so far.
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

// Fills in the ranks of the members in order, if they are known without a hint because the group is
// the whole job.
bool fillInMembers(Context& context) noexcept {
  if (context.size <= 0 || context.size > kMaxMembers)
    return false;
  jobMembers(context.rank, context.size, context.members);
  return true;
}

// FNV-1a.
std::uint64_t hashOf(const char* text) noexcept {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (; *text != '\0'; ++text)
    hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100'0000'01b3;
  return hash;
}

// Returns another context of the same live communicator for which `suits` returns true, or nullptr.
// Groups with several network devices have one context per device.
template <typename Suits>
const Context* sibling(const Context& own, Suits suits) noexcept {
  for (const Context& other : gContexts) {
    const void* address = other.address.load(std::memory_order_acquire);
    if (&other != &own && address != nullptr && address != &kTaken && other.group == own.group &&
        suits(other))
      return &other;
  }
  return nullptr;
}

// Extends the members' key of the group to one that no earlier group had.
void fillInKey(Context& context, const char* key) noexcept {
  context.group = hashOf(key);
  const Context* other = sibling(context, [](const Context&) { return true; });
  std::size_t length = std::strlen(other != nullptr ? other->key : key);
  std::memcpy(context.key, other != nullptr ? other->key : key, length);
  const std::uint32_t before = other != nullptr ? 0 : countUp(gKeys, context.group);
  if (before > 0) {
    context.key[length++] = '#';
    length = appendNumber(context.key, length, before + 1);
  }
  context.key[length] = '\0';
}

void fillIn(Context& context) noexcept {
  core::CommunicatorHint hint;
  if (core::readCommunicatorHint(hint) && hint.size == context.size) {
    context.membersKnown = context.size <= kMaxMembers;
    if (context.membersKnown)
      std::memcpy(context.members,
                  hint.ranks,
                  static_cast<std::size_t>(context.size) * sizeof *context.members);
    return fillInKey(context, hint.key);
  }
  context.membersKnown = fillInMembers(context);
  const auto size = static_cast<std::uint64_t>(context.size);
  char key[kKeyBytes] = "gloo:";
  std::size_t length = appendNumber(key, 5, size);
  key[length++] = ':';
  length = appendNumber(key, length, countUp(gSizes, size + 1));
  key[length] = '\0';
  fillInKey(context, key);
}

// Returns the id in this image's spool; 0: none.
std::uint32_t idIn(std::uint32_t image, const Context& context) noexcept {
  const std::uint64_t known = context.communicator.load(std::memory_order_acquire);
  return known >> 32 == image ? static_cast<std::uint32_t>(known) : 0;
}

std::uint32_t define(const Context& context, std::uint32_t image) noexcept {
  const auto defined = [&](const Context& other) {
    return std::strcmp(other.key, context.key) == 0 && idIn(image, other) != 0;
  };
  if (const Context* other = sibling(context, defined); other != nullptr)
    return idIn(image, *other);
  return core::defineCommunicator(context.key,
                                  context.membersKnown ? context.members : nullptr,
                                  context.size,
                                  context.rank,
                                  wire::Probe::Gloo);
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
    context.communicator.store(0, std::memory_order_relaxed);
    fillIn(context);
    communicatorOf(&context);
    context.address.store(address, std::memory_order_release);
    return;
  }
}

}  // namespace

void destroyed(const void* address) noexcept {
  if (Context* context = findExisting(address); context != nullptr)
    context->address.store(nullptr, std::memory_order_release);
}

// If a constructor threw or a destructor was not seen, an entry with the same address is left over.
void constructed(const void* address, int rank, int size) noexcept {
  destroyed(address);
  add(address, rank, size);
}

Caller findCaller(const void* address) noexcept {
  Context* context = findExisting(address);
  return context == nullptr ? Caller{} : Caller{context, context->rank, context->size};
}

std::uint32_t communicatorOf(Context* context) noexcept {
  const std::uint32_t image = core::imageGeneration();
  if (const std::uint32_t id = idIn(image, *context); id != 0)
    return id;
  std::uint32_t at = context->defining.load(std::memory_order_relaxed);
  if (image == 0 || core::isFull(core::gSpool) || at == image ||
      !context->defining.compare_exchange_strong(at, image, std::memory_order_acquire))
    return 0;
  const std::uint32_t id = define(*context, image);
  if (id != 0)
    context->communicator.store(std::uint64_t{image} << 32 | id, std::memory_order_release);
  context->defining.store(0, std::memory_order_release);
  return id;
}

std::uint64_t nextSequence(Context* context, std::uint32_t tag) noexcept {
  std::atomic<std::uint64_t>& cell = context->tags[tag % kTagCells];
  constexpr std::uint64_t kRound = std::uint64_t{1} << 32;
  std::uint64_t seen = 0;
  const auto next = [&](std::uint64_t before) {
    const std::uint64_t rounds = before / kRound;
    // Tags that only grow stay in round 1, which is written as 0 below. A tag that does not grow
    // starts the next round.
    const bool again = before != 0 && tag <= static_cast<std::uint32_t>(before);
    return (before == 0 ? 1 : rounds + (again ? 1 : 0)) * kRound | tag;
  };
  // After too many tries another call may get the same number.
  core::exchangeWith(cell, seen, next);
  return next(seen) - kRound;
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
