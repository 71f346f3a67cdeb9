// What the library keeps for each thread, and the guard around every write.
//
// A thread's state is reached by one initial-exec TLS pointer. `busy` is the re-entry guard: a
// signal handler that runs while its own thread is between enter() and leave() must not write,
// because the record it interrupted lies half-made at the cursor. `generation` ties the state to
// the process: a page that the kernel zeroes in every child (MADV_WIPEONFORK) holds the current
// one, so that also a child of raw clone or _Fork is noticed at its first emit.
#pragma once

#include "collector/core/spool.h"

#include <atomic>
#include <cstdint>

namespace sonde::core {

// The token of a place on the stack whose scope was not recorded.
inline constexpr std::uint32_t kUnrecorded = 0;

// Of OpenScope::reserved: the NVTX domain or the plugin's number, 1 where the file does not have
// the scope, and in four bytes the stamp of an iteration or a silent scope (capture.h).
inline constexpr int kGroupAt = 0;
inline constexpr int kSilentAt = 1;
inline constexpr int kStampAt = 2;

struct ThreadState {
  std::uint32_t generation;
  std::atomic<std::uint32_t> busy;
  char* cursor;  // where the next record goes
  char* end;     // of the slot; cursor == end == nullptr: no slot
  wire::SlotHeader* slot;
  std::uint32_t thread;                  // index of the ThreadDefinition
  std::atomic<std::int32_t> tid;         // 0: the state is free
  std::atomic<std::uint32_t> givenName;  // by the program, through a probe; 0: none
  std::uint32_t vforksSeen;              // calls of vfork when the thread was last in the parent
  std::uint32_t nextToken;
  std::uint64_t records;  // number of the last that arguments may be of, never given twice
  std::uint32_t scopeCount;
  const char* guardFrame;        // a place in the stack frame that took the guard last
  std::uint32_t deepScopes;      // of NVTX, begun past kMaxOpenScopes and not yet popped
  std::uint32_t silentScopes;    // of `scopes`, how many the file does not have; see capture.h
  std::uint32_t ncclGroups;      // that the thread has open
  std::uint32_t ncclGroup;       // how many outermost ones it began
  std::uint64_t ncclBefore;      // the last call's number when the outermost of these began
  wire::SlotHeader* sampleSlot;  // for copies of its stack; see sample_slot.h
  char* sampleCursor;
  char* sampleEnd;
  // By probe, of a run that calibrates itself, since ever: also of the threads that had the state
  // before. Only differences mean something.
  std::atomic<std::uint32_t> recorded[static_cast<int>(wire::Probe::Count)];
  std::atomic<std::uint32_t> unrecorded[static_cast<int>(wire::Probe::Count)];
  std::uint64_t ncclCall;  // what it is inside of, as nccl_api.h has it; 0: nothing
  // Of each open call the stack frame that opened it; see open_calls.h.
  const void* openFrames[wire::OpenCalls::kMost];
  wire::OpenScope scopes[wire::kMaxOpenScopes];
};

// One per process, in memory that a child finds zeroed.
struct ForkPage {
  std::atomic<std::uint32_t> generation;  // > 0 once attached
  std::atomic<std::uint32_t> attaching;
  std::atomic<std::uint32_t> apart;  // the write that a fork interrupted goes on in private memory
  wire::LossCounters missed;         // what was lost before there was a spool to count it in
};
extern ForkPage* gForkPage;  // never null
// What is told that the calling thread, which has a state, ends; nullptr: nothing.
extern std::atomic<void (*)()> gThreadEnds;
extern __thread ThreadState* tState __attribute__((tls_model("initial-exec")));

// Attaches the library to a child that the fork page has just revealed; see attach.cpp. Not while
// the thread is inside a write.
bool attachChild() noexcept;

// Whether this process has a spool to write to; a forked child gets its own here.
inline bool attached() noexcept {
  return __builtin_expect(gForkPage->generation.load(std::memory_order_relaxed) != 0, 1) ||
         attachChild();
}

// The generation of this process's spool; 0: it has none.
inline std::uint32_t imageGeneration() noexcept {
  return attached() ? gForkPage->generation.load(std::memory_order_relaxed) : 0;
}

// The slow way in: registers the thread, or attaches a forked child first. nullptr when neither can
// be done.
[[gnu::cold]] ThreadState* enterSlowly(wire::Probe probe, wire::RecordKind kind) noexcept;
// Counts the loss, unless the guard turns out to have been left behind by a longjmp; then takes it
// over.
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

// Whether the calling thread's state is one of this process image, and not that of a parent.
inline bool isCurrent(const ThreadState* state) noexcept {
  return __builtin_expect(state != nullptr && state->generation == gForkPage->generation.load(
                                                                       std::memory_order_relaxed),
                          1);
}

// Takes the guard of the calling thread. nullptr: drop the record (it has been counted).
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

// The state of the calling thread, which is registered if it is not yet. nullptr when that cannot
// be done.
[[gnu::cold]] ThreadState* registerSelf() noexcept;

// Whether the calling thread is a signal handler that interrupted a write, perhaps of the process
// that forked it.
bool insideWrite() noexcept;

// Holds the guard around work on the spool that needs it only so that insideWrite() tells. Without
// effect when the guard is taken already, or the thread has none.
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

// The state of a thread that has recorded something and lives; nullptr when there is none.
ThreadState* findThread(std::int32_t tid) noexcept;

// By probe, of all threads that there are or were; see ThreadState.
struct CallCounts {
  std::uint32_t recorded[static_cast<int>(wire::Probe::Count)];
  std::uint32_t unrecorded[static_cast<int>(wire::Probe::Count)];
};
CallCounts sumOfCalls() noexcept;

// Hands the current slot over and begins another. False when there is none to be had. Requires: the
// guard.
[[gnu::cold]] bool nextSlot(ThreadState* state) noexcept;

// Before anything is recorded: the pool of states, the fork page and the key whose destructor sees
// threads end.
bool prepareThreads() noexcept;
// In a child: forgets the parent's threads, whose memory it has copies of.
void forgetThreads() noexcept;
// In a child, on the thread that forked: forgets its state alone. If another thread of the child is
// the first to record, the child gives that memory to somebody else. Not while a write that the
// fork interrupted needs it.
void forgetOwnState() noexcept;

}  // namespace sonde::core
