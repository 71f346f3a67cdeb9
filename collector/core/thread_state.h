// The library's state of each thread, and the guard around every write.
//
// A thread finds its state through one initial-exec TLS pointer. `busy` is the re-entry guard. A
// signal handler that runs while its own thread is between enter() and leave() must not write,
// because the interrupted record is half-written at the cursor. `generation` ties the state to the
// process. The kernel zeroes the page with the current generation in every child (MADV_WIPEONFORK),
// so a child of raw clone or _Fork is also noticed at its first emit.
#pragma once

#include "collector/core/spool.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sonde::core {

// The token of a stack place whose scope was not recorded.
inline constexpr std::uint32_t kUnrecorded = 0;

// State that a probe keeps for a thread; see stateOf().
struct ProbeState {
  alignas(std::uint64_t) std::byte bytes[24];
};

struct ThreadState {
  std::uint32_t generation;
  std::atomic<std::uint32_t> busy;
  char* cursor;  // where the next record goes
  char* end;     // end of the slot; cursor == end == nullptr: no slot
  wire::SlotHeader* slot;
  std::uint32_t thread;                  // index of the ThreadDefinition
  std::atomic<std::int32_t> tid;         // 0: the state is free
  std::atomic<std::uint32_t> givenName;  // by the program, through a probe; 0: none
  std::uint32_t vforksSeen;  // number of vfork calls when the thread was last in the parent
  std::uint32_t nextToken;
  // Number of the last record that may have arguments; numbers are never reused.
  std::uint64_t records;
  std::uint32_t scopeCount;
  const char* guardFrame;        // a place in the stack frame that took the guard last
  std::uint32_t deepScopes;      // NVTX scopes begun past kMaxOpenScopes and not yet popped
  std::uint32_t silentScopes;    // number of `scopes` that the file does not have; see capture.h
  wire::SlotHeader* sampleSlot;  // for copies of its stack; see sample_slot.h
  char* sampleCursor;
  char* sampleEnd;
  // Totals per probe in a self-calibrating run, including those of threads that had this state
  // before. Use only differences.
  std::atomic<std::uint32_t> recorded[static_cast<int>(wire::Probe::Count)];
  std::atomic<std::uint32_t> unrecorded[static_cast<int>(wire::Probe::Count)];
  ProbeState probes[static_cast<int>(wire::Probe::Count)];
  // For each open call, the stack frame that opened it; see open_calls.h.
  const void* openFrames[wire::OpenCalls::kMost];
  wire::OpenScope scopes[wire::kMaxOpenScopes];
};

// The probe's own state of the thread. Its bytes are zero when the thread registers. `State`: at
// most 24 bytes, always the same type for one probe.
template <typename State>
const State& stateOf(const ThreadState& thread, wire::Probe probe) noexcept {
  static_assert(std::is_trivial_v<State> && sizeof(State) <= sizeof(ProbeState));
  return *reinterpret_cast<const State*>(thread.probes[static_cast<int>(probe)].bytes);
}
template <typename State>
State& stateOf(ThreadState& thread, wire::Probe probe) noexcept {
  return const_cast<State&>(stateOf<State>(std::as_const(thread), probe));
}

// One per process, in memory that the kernel zeroes in a child.
struct ForkPage {
  std::atomic<std::uint32_t> generation;  // > 0 once attached
  std::atomic<std::uint32_t> attaching;
  // An interrupted write of the parent continues in private memory.
  std::atomic<std::uint32_t> apart;
  wire::LossCounters missed;  // losses from before there was a spool to count them in
};
extern ForkPage* gForkPage;  // never null
// Called when a registered thread exits; may be null.
extern std::atomic<void (*)()> gThreadEnds;
extern __thread ThreadState* tState __attribute__((tls_model("initial-exec")));

// Attaches the library to a child that the fork page has just revealed; see attach.cpp. The thread
// must not be inside a write.
bool attachChild() noexcept;

// Whether this process has a spool to write to; a forked child gets its own here.
inline bool attached() noexcept {
  return __builtin_expect(gForkPage->generation.load(std::memory_order_relaxed) != 0, 1) ||
         attachChild();
}

// The generation of this process's spool; 0: no spool.
inline std::uint32_t imageGeneration() noexcept {
  return attached() ? gForkPage->generation.load(std::memory_order_relaxed) : 0;
}

// The slow path of enter(): first registers the thread, or attaches a forked child. nullptr if
// neither is possible.
[[gnu::cold]] ThreadState* enterSlowly(wire::Probe probe, wire::RecordKind kind) noexcept;
// Counts the loss. If a longjmp left the guard behind, takes the guard over instead.
[[gnu::cold]] ThreadState* enterBusy(ThreadState* state,
                                     const char* frame,
                                     wire::Probe probe,
                                     wire::RecordKind kind) noexcept;

// Takes the guard, which must be free. `frame`: a place in the stack frame that holds it.
inline void takeGuard(ThreadState* state, const char* frame) noexcept {
  state->guardFrame = frame;
  state->busy.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Whether the calling thread's state belongs to this process image, not to a parent.
inline bool isCurrent(const ThreadState* state) noexcept {
  return __builtin_expect(state != nullptr && state->generation == gForkPage->generation.load(
                                                                       std::memory_order_relaxed),
                          1);
}

// Takes the guard of the calling thread. nullptr: drop the record; it has been counted.
inline ThreadState* enter(wire::Probe probe, wire::RecordKind kind) noexcept {
  const char here = 0;
  ThreadState* state = tState;
  if (!isCurrent(state))
    return enterSlowly(probe, kind);
  if (__builtin_expect(state->busy.load(std::memory_order_relaxed) != 0, 0))
    return enterBusy(state, &here, probe, kind);
  takeGuard(state, &here);
  return state;
}

inline void leave(ThreadState* state) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  state->busy.store(0, std::memory_order_relaxed);
}

// Returns the calling thread's state and registers the thread if needed. nullptr if that is not
// possible.
[[gnu::cold]] ThreadState* registerSelf() noexcept;

// Whether the calling thread is a signal handler that interrupted a write, possibly a write of the
// parent process.
bool insideWrite() noexcept;

// Holds the guard around work on the spool that needs it only so that insideWrite() returns true.
// Has no effect if the guard is already taken or the thread has no state.
class WriteMark {
 public:
  WriteMark() noexcept : state_(tState) {
    if (!isCurrent(state_))
      state_ = registerSelf();
    if (state_ != nullptr && state_->busy.load(std::memory_order_relaxed) != 0)
      state_ = nullptr;
    if (state_ != nullptr)
      takeGuard(state_, reinterpret_cast<const char*>(this));
  }
  ~WriteMark() noexcept {
    if (state_ != nullptr)
      leave(state_);
  }
  WriteMark(const WriteMark&) = delete;
  WriteMark& operator=(const WriteMark&) = delete;

 private:
  ThreadState* state_;
};

// The state of a thread that has recorded and still runs; nullptr if there is none.
ThreadState* findThread(std::int32_t tid) noexcept;

// Totals per probe of all present and past threads; see ThreadState.
struct CallCounts {
  std::uint32_t recorded[static_cast<int>(wire::Probe::Count)];
  std::uint32_t unrecorded[static_cast<int>(wire::Probe::Count)];
};
CallCounts sumOfCalls() noexcept;

// Hands the current slot over and begins another. False if no slot is available. Requires: the
// guard.
[[gnu::cold]] bool nextSlot(ThreadState* state) noexcept;

// Call before anything is recorded. Prepares the pool of states, the fork page, and the key whose
// destructor notices the end of threads.
bool prepareThreads() noexcept;
// In a child: forgets the parent's threads, of whose memory it has copies.
void forgetThreads() noexcept;
// In a child, on the thread that forked: forgets only this thread's state. If another thread of the
// child records first, the child reuses that memory. Must not be called while a write that the fork
// interrupted needs the state.
void forgetOwnState() noexcept;

}  // namespace sonde::core
