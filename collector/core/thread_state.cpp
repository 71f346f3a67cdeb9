#include "collector/core/thread_state.h"

#include "collector/core/capture.h"
#include "collector/core/definitions.h"
#include "collector/core/emit.h"
#include "collector/core/open_calls.h"
#include "collector/core/platform/clock.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/record_place.h"
#include "collector/core/sample_slot.h"

#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

namespace sonde::core {
namespace {

constexpr std::uint32_t kMaxThreads = 4096;  // running at the same time

ForkPage gUnattached;
ThreadState* gPool;
std::atomic<bool>
    gUsed[kMaxThreads];  // separate from the pool, so that a search for a free one touches no state
std::atomic<std::uint32_t> gNextThread{0};
std::atomic<std::uint32_t> gMostThreads{0};  // number of states that were ever used
pthread_key_t gKey;

ThreadState* takeState() noexcept {
  for (std::uint32_t at = 0; at < kMaxThreads; ++at) {
    if (!gUsed[at].load(std::memory_order_relaxed) &&
        !gUsed[at].exchange(true, std::memory_order_acquire)) {
      std::uint32_t most = gMostThreads.load(std::memory_order_relaxed);
      // Ends: a try fails only if the value has grown, to kMaxThreads at most.
      while (most <= at && !gMostThreads.compare_exchange_strong(most, at + 1)) {
      }
      return &gPool[at];
    }
  }
  return nullptr;
}

void giveBackState(ThreadState* state) noexcept {
  state->tid.store(0, std::memory_order_relaxed);
  gUsed[state - gPool].store(false, std::memory_order_release);
}

std::uint32_t currentName() noexcept {
  char name[16] = {};
  rawSyscall(SYS_prctl, PR_GET_NAME, asLong(name));
  return intern(name);
}

bool defineThread(ThreadState* state) noexcept {
  auto* definition = reinterpret_cast<wire::ThreadDefinition*>(
      claimDefinition(gSpool, wire::DefinitionKind::Thread, sizeof(wire::ThreadDefinition)));
  if (definition == nullptr)
    return false;
  state->thread = gNextThread.fetch_add(1, std::memory_order_relaxed);
  definition->thread = state->thread;
  const auto tid = static_cast<std::int32_t>(rawSyscall(SYS_gettid));
  definition->tid = tid;
  state->tid.store(tid, std::memory_order_release);
  definition->startTicks = readTicks();
  commitDefinition(&definition->header);
  pthread_setspecific(gKey, state);
  return true;
}

// Gives the calling thread a state and leaves its guard taken: a signal handler that records during
// this call loses its record. If a handler has given the thread a state since tState was `before`,
// uses that one. Null if no state is free.
ThreadState* registerThread(ThreadState* before) noexcept {
  const char here = 0;
  ThreadState* state = takeState();
  if (state == nullptr)
    return nullptr;
  state->busy.store(1, std::memory_order_relaxed);
  state->guardFrame = &here;
  state->generation = gForkPage->generation.load(std::memory_order_relaxed);
  state->cursor = state->end = nullptr;
  state->slot = nullptr;
  state->sampleCursor = state->sampleEnd = nullptr;
  state->sampleSlot = nullptr;
  state->scopeCount = state->deepScopes = state->silentScopes = 0;
  for (ProbeState& probe : state->probes)
    probe = {};
  state->nextToken = 1;
  state->records = std::uint64_t{state->generation} << 32;
  state->vforksSeen = 0;
  state->givenName.store(0, std::memory_order_relaxed);
  if (!__atomic_compare_exchange_n(
          &tState, &before, state, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    giveBackState(state);
    before->busy.store(1, std::memory_order_relaxed);
    return before;
  }
  if (!defineThread(state)) {
    tState = nullptr;
    giveBackState(state);
    return nullptr;
  }
  return state;
}

// Runs last of the thread's own code that Sonde sees. If other destructors still record, they begin
// a new state.
void threadEnds(void* pointer) noexcept {
  auto* state = static_cast<ThreadState*>(pointer);
  if (tState != state || !isCurrent(state))
    return;
  if (void (*const tell)() = gThreadEnds.load(std::memory_order_relaxed); tell != nullptr)
    tell();
  const std::uint32_t given = state->givenName.load(std::memory_order_relaxed);
  const std::uint32_t name = given != 0 ? given : currentName();
  if (enter(wire::Probe::Process, wire::RecordKind::ThreadEnd) == state) {
    // A thread that has recorded nothing takes no slot for its end.
    if (auto* place = state->slot == nullptr ? nullptr : reserve<wire::ThreadEnd>(state);
        place != nullptr) {
      *place = {{sizeof *place, wire::RecordKind::ThreadEnd, 0, name}, readTicks()};
      publish<wire::ThreadEnd>(state);
    }
    leave(state);
  }
  captureThreadEnds(*state);
  tState = nullptr;
  if (state->slot != nullptr)
    releaseSlot(gSpool, state->slot, wire::SlotState::Full);
  state->slot = nullptr;
  releaseSamples(state);
  giveBackState(state);
}

// Returns the end of the calling thread's own stack, if `place` is on it. glibc puts a thread's
// control block there, the kernel puts the main thread's random bytes there.
std::uintptr_t stackEnd(std::uintptr_t place) noexcept {
  const auto controlBlock = static_cast<std::uintptr_t>(pthread_self());
  return place < controlBlock ? controlBlock : getauxval(AT_RANDOM);
}

// Whether a longjmp out of a signal handler left the write that holds the guard: its stack frame is
// gone. A handler that interrupts the write runs below its frame, with the kernel's frame of more
// than kSignalFrame bytes in between, or on an alternate stack. The kernel reports an alternate
// stack, except one that disarms itself (SS_AUTODISARM). So only a caller above the frame, on the
// thread's own stack, proves that the frame is gone.
bool guardWasLeft(const ThreadState* state, const char* frame) noexcept {
  constexpr std::uintptr_t kSignalFrame = 512;
  stack_t alternate{};
  if (rawSyscall(SYS_sigaltstack, 0, asLong(&alternate)) != 0 ||
      (alternate.ss_flags & SS_ONSTACK) != 0)
    return false;
  const auto here = reinterpret_cast<std::uintptr_t>(frame);
  const auto held = reinterpret_cast<std::uintptr_t>(state->guardFrame);
  if (held - reinterpret_cast<std::uintptr_t>(alternate.ss_sp) < alternate.ss_size)
    return true;  // of a handler on the alternate stack, which is not this stack
  return here + kSignalFrame > held && here < stackEnd(held);
}

}  // namespace

ForkPage* gForkPage = &gUnattached;
constinit std::atomic<void (*)()> gThreadEnds{nullptr};
__thread ThreadState* tState = nullptr;

ThreadState* registerSelf() noexcept {
  if (!attached())
    return nullptr;
  // attachChild() has forgotten the parent's states, including this thread's.
  ThreadState* before = tState;
  if (isCurrent(before))
    return before;
  ThreadState* state = registerThread(before);
  if (state == nullptr)
    return nullptr;
  leave(state);
  nameThread(currentName());
  return state;
}

bool insideWrite() noexcept {
  const char here = 0;
  const ThreadState* state = tState;
  return state != nullptr && state->busy.load(std::memory_order_relaxed) != 0 &&
         !guardWasLeft(state, &here);
}

ThreadState* enterSlowly(wire::Probe probe, wire::RecordKind kind) noexcept {
  if (registerSelf() != nullptr)
    return enter(probe, kind);
  const bool known = gForkPage->generation.load(std::memory_order_relaxed) != 0;
  countLoss(probe, kind, known ? wire::LossReason::NoThread : wire::LossReason::Signal);
  return nullptr;
}

ThreadState* enterBusy(ThreadState* state,
                       const char* frame,
                       wire::Probe probe,
                       wire::RecordKind kind) noexcept {
  const bool defined = state->tid.load(std::memory_order_relaxed) != 0;
  if (guardWasLeft(state, frame) && (defined || defineThread(state))) {
    state->guardFrame = frame;
    return state;  // data that the write had not committed is overwritten
  }
  countLoss(probe, kind, wire::LossReason::Signal);
  return nullptr;
}

ThreadState* findThread(std::int32_t tid) noexcept {
  for (std::uint32_t at = 0; at < kMaxThreads; ++at) {
    if (gUsed[at].load(std::memory_order_acquire) &&
        gPool[at].tid.load(std::memory_order_acquire) == tid)
      return &gPool[at];
  }
  return nullptr;
}

CallCounts sumOfCalls() noexcept {
  CallCounts sum{};
  const std::uint32_t most = gMostThreads.load(std::memory_order_acquire);
  for (std::uint32_t at = 0; at < most; ++at) {
    for (int probe = 0; probe < static_cast<int>(wire::Probe::Count); ++probe) {
      sum.recorded[probe] += gPool[at].recorded[probe].load(std::memory_order_relaxed);
      sum.unrecorded[probe] += gPool[at].unrecorded[probe].load(std::memory_order_relaxed);
    }
  }
  return sum;
}

bool nextSlot(ThreadState* state) noexcept {
  OpenCallCopy open;
  if (state->slot != nullptr) {
    wire::SlotHeader* full = state->slot;
    copyOpenCalls(full->calls, open);
    // A handler may leave this by longjmp at any instruction. Without a slot there is never room.
    state->end = nullptr;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    state->cursor = nullptr;
    state->slot = nullptr;
    releaseSlot(gSpool, full, wire::SlotState::Full);
  }
  wire::SlotHeader* slot = claimSlot(gSpool, wire::SlotState::Writing);
  if (slot == nullptr)
    return false;
  char* base = reinterpret_cast<char*>(slot);
  slot->thread = state->thread;
  setOpenCalls(slot->calls, open);
  auto* scopes = reinterpret_cast<wire::OpenScope*>(slot + 1);
  slot->scopeCount = 0;
  state->silentScopes = 0;
  for (std::uint32_t at = 0; at < state->scopeCount; ++at) {
    wire::OpenScope& scope = state->scopes[at];
    const bool isSilent = scope.isSilent != 0 && !wasEverFullSince(scope);
    state->silentScopes += isSilent ? 1 : 0;
    if (isSilent || scope.token == kUnrecorded)
      continue;
    scope.isSilent = 0;
    scopes[slot->scopeCount++] = scope;
  }
  slot->firstRecord =
      static_cast<std::uint32_t>(reinterpret_cast<char*>(scopes + slot->scopeCount) - base);
  state->slot = slot;
  state->cursor = base + slot->firstRecord;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  state->end = base + wire::kSlotBytes;
  slot->committed.store(slot->firstRecord, std::memory_order_release);
  return true;
}

bool prepareThreads() noexcept {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  const long pool = rawSyscall(SYS_mmap,
                               0,
                               sizeof(ThreadState) * kMaxThreads,
                               PROT_READ | PROT_WRITE,
                               kFlags | MAP_NORESERVE,
                               -1,
                               0);
  const long page =
      rawSyscall(SYS_mmap, 0, sizeof(ForkPage), PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if ((pool < 0 && pool >= -4095) || (page < 0 && page >= -4095))
    return false;
  if (rawSyscall(SYS_madvise, page, sizeof(ForkPage), MADV_WIPEONFORK) != 0 ||
      pthread_key_create(&gKey, threadEnds) != 0)
    return false;
  gPool = reinterpret_cast<ThreadState*>(pool);
  gForkPage = reinterpret_cast<ForkPage*>(page);
  return true;
}

void forgetOwnState() noexcept {
  if (!isCurrent(tState) && !insideWrite())
    tState = nullptr;
}

void forgetThreads() noexcept {
  for (std::atomic<bool>& used : gUsed)
    used.store(false, std::memory_order_relaxed);
  tState = nullptr;
  gNextThread.store(0, std::memory_order_relaxed);
}

}  // namespace sonde::core
