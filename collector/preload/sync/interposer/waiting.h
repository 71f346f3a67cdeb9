// Shared by the wrappers of this library: a wait, recorded at its end, and a post. Any thread;
// keeps errno. A wait that is cancelled, or left by longjmp, never ends: its place is given back
// when its thread waits again or ends.
#pragma once

#include "collector/preload/sync/interposer/wait_table.h"
#include "collector/preload/sync/sync_hooks.h"

#include <errno.h>
#include <time.h>

#include <cstdint>

namespace sonde::preload::sync {

// nullptr: no recorder. Set before the program's own code runs.
extern const Hooks* gHooks;

inline bool isOn() noexcept {
  return gHooks != nullptr;
}

inline std::uint64_t idOf(const volatile void* object) noexcept {
  return reinterpret_cast<std::uint64_t>(object);
}

// A function that threads wait in.
struct Call {
  const char* name;
  wire::SyncObject kind;
  Rule rule;
};

struct Wait {
  Call call;
  std::uint64_t object;
  std::uint64_t begin;   // ticks; 0: not recorded
  std::uint32_t number;  // of the thread's waits
  bool shared;           // with other processes, whose posts Sonde does not see
  OpenWait open;
  Place place;
};

enum class Outcome { Woken, TimedOut, Interrupted, Refused };

// Facts about an object when a wait at it begins.
struct Awaited {
  std::uint64_t object;
  bool shared = false;      // with other processes
  std::uint64_t turn = 0;   // Place::turn
  std::int32_t holder = 0;  // kernel id of the thread that holds it, or is to end; 0: unknown
};

// The calling thread is about to wait. End the wait with endWait() or dropWait(), or leave it to
// the thread's next wait.
Wait beginWait(const Call& call, const Awaited& awaited) noexcept;
// The thread did not wait.
void dropWait(const Wait& wait) noexcept;
// `otherwise`: the waker if no post identifies it; 0: unknown.
void endWait(const Wait& wait, Outcome outcome, std::int32_t otherwise = 0) noexcept;
// This thread has arrived at a barrier. Returns the post's number.
std::uint32_t arriveAt(const Wait& wait) noexcept;

// For a call that returns an error number.
inline Outcome outcomeOf(int result) noexcept {
  switch (result) {
    case 0:
    case EOWNERDEAD:
      return Outcome::Woken;
    case ETIMEDOUT:
      return Outcome::TimedOut;
    case EINTR:
      return Outcome::Interrupted;
    default:
      return Outcome::Refused;
  }
}

// A thread waits at `object`; the calling thread's next action may wake it.
[[gnu::cold]] Post beginPost(std::uint64_t object,
                             PostTraits traits = 0,
                             std::uint64_t turn = kNoTurn) noexcept;
[[gnu::cold]] void endPost(const Post& post, bool tookEffect) noexcept;

struct PostKind {
  PostTraits traits = 0;
  std::uint64_t turn = kNoTurn;
};

// Out of line, so that a wrapper whose object has no waiters saves no registers for it.
template <typename Describe, typename Act, typename TookEffect>
[[gnu::cold, gnu::noinline]] auto postingToWaiters(std::uint64_t object,
                                                   Describe describe,
                                                   Act act,
                                                   TookEffect tookEffect) {
  const PostKind kind = describe();
  const Post post = beginPost(object, kind.traits, kind.turn);
  const auto result = act();
  endPost(post, tookEffect(result));
  return result;
}

// Calls act(), which wakes waiters at `object` if `tookEffect(result)`. describe() returns the
// post's properties. The object is not read after act(), because it may no longer exist.
template <typename Describe, typename Act, typename TookEffect>
[[gnu::always_inline]] inline auto posting(std::uint64_t object,
                                           Describe describe,
                                           Act act,
                                           TookEffect tookEffect) {
  return isAwaited(object) ? postingToWaiters(object, describe, act, tookEffect) : act();
}

// The same for functions that return 0 on success.
template <typename Describe, typename Act>
[[gnu::always_inline]] inline int posting(std::uint64_t object, Describe describe, Act act) {
  return posting(object, describe, act, [](int result) { return result == 0; });
}
template <typename Act>
[[gnu::always_inline]] inline int posting(std::uint64_t object, Act act) {
  return posting(
      object, [] { return PostKind{}; }, act);
}

// The wait of a thread that found the object taken: tryIt() returned EBUSY.
template <typename Describe, typename TryIt, typename Block>
[[gnu::cold, gnu::noinline]] int waitingForOthers(const Call& call,
                                                  Describe describe,
                                                  TryIt tryIt,
                                                  Block block) {
  const Wait wait = beginWait(call, describe());
  // A thread that released it between the two tries has not seen a waiter.
  if (const int tried = tryIt(); tried != EBUSY) {
    dropWait(wait);
    return tried;
  }
  const int result = block();
  endWait(wait, outcomeOf(result));
  return result;
}

// Calls tryIt() and, if the object is taken, block(), in which the thread waits. describe() returns
// an Awaited.
template <typename Describe, typename TryIt, typename Block>
[[gnu::always_inline]] inline int waiting(const Call& call,
                                          Describe describe,
                                          TryIt tryIt,
                                          Block block) {
  if (!isOn())
    return block();
  const int tried = tryIt();
  return __builtin_expect(tried != EBUSY, 1) ? tried
                                             : waitingForOthers(call, describe, tryIt, block);
}

// Whether libc accepts this as an absolute timeout. If libc would refuse it at once, nothing else
// may be tried first.
inline bool isTime(const timespec* until) noexcept {
  return until != nullptr && until->tv_nsec >= 0 && until->tv_nsec < 1'000'000'000;
}
inline bool isClock(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

}  // namespace sonde::preload::sync
