// What the wrappers of this library share: a wait, which is recorded when it has ended, and a post.
// Any thread; keeps errno. A wait that is cancelled, or left by longjmp, is never ended: its place
// is given back when its thread waits again or ends.
#pragma once

#include "collector/preload/sync/interposer/wait_table.h"
#include "collector/preload/sync/sync_hooks.h"

#include <errno.h>
#include <time.h>

#include <cstdint>

namespace sonde::preload::sync {

// nullptr: nobody records. Known before the program's own code runs.
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
  bool shared;           // with other processes, whose posts are not seen
  OpenWait open;
  Place place;
};

enum class Outcome { Woken, TimedOut, Interrupted, Refused };

// What is known of an object when a wait at it begins.
struct Awaited {
  std::uint64_t object;
  bool shared = false;      // with other processes
  std::uint64_t turn = 0;   // Place::turn
  std::int32_t holder = 0;  // the kernel's id of the thread that has it, or is to end; 0: not known
};

// The calling thread is about to wait. The wait belongs to one of endWait() and dropWait(), or is
// left to the thread's next.
Wait beginWait(const Call& call, const Awaited& awaited) noexcept;
// It has not waited after all.
void dropWait(const Wait& wait) noexcept;
// `otherwise`: who let it go on where no post says so; 0: not known.
void endWait(const Wait& wait, Outcome outcome, std::int32_t otherwise = 0) noexcept;
// At a barrier: this thread has come. The post's number.
std::uint32_t arriveAt(const Wait& wait) noexcept;

// Of a call that returns an error number.
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

// Somebody waits at `object`, whom the calling thread may let go on with its next act.
[[gnu::cold]] Post beginPost(std::uint64_t object,
                             PostTraits traits = 0,
                             std::uint64_t turn = kNoTurn) noexcept;
[[gnu::cold]] void endPost(const Post& post, bool tookEffect) noexcept;

struct PostKind {
  PostTraits traits = 0;
  std::uint64_t turn = kNoTurn;
};

// Out of line, so that a wrapper whose object nobody waits at saves no registers for it.
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

// act(), which lets waiters at `object` go on if `tookEffect(what it returned)`. describe() says
// what kind of post it is; the object is not looked at afterwards, when it may be gone.
template <typename Describe, typename Act, typename TookEffect>
[[gnu::always_inline]] inline auto posting(std::uint64_t object,
                                           Describe describe,
                                           Act act,
                                           TookEffect tookEffect) {
  return isAwaited(object) ? postingToWaiters(object, describe, act, tookEffect) : act();
}

// The same of what returns 0 when it is done.
template <typename Describe, typename Act>
[[gnu::always_inline]] inline int posting(std::uint64_t object, Describe describe, Act act) {
  return posting(object, describe, act, [](int result) { return result == 0; });
}
template <typename Act>
[[gnu::always_inline]] inline int posting(std::uint64_t object, Act act) {
  return posting(
      object, [] { return PostKind{}; }, act);
}

// The wait of a thread that has found the object taken: tryIt() returned EBUSY.
template <typename Describe, typename TryIt, typename Block>
[[gnu::cold, gnu::noinline]] int waitingForOthers(const Call& call,
                                                  Describe describe,
                                                  TryIt tryIt,
                                                  Block block) {
  const Wait wait = beginWait(call, describe());
  // Who let it go between the two tries has not seen that somebody waits.
  if (const int tried = tryIt(); tried != EBUSY) {
    dropWait(wait);
    return tried;
  }
  const int result = block();
  endWait(wait, outcomeOf(result));
  return result;
}

// tryIt() where that does not find the object taken, else block(), in which the thread waits.
// describe() gives an Awaited.
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

// Whether libc takes this as a time to wait until: of one that it refuses at once nothing else may
// be tried before.
inline bool isTime(const timespec* until) noexcept {
  return until != nullptr && until->tv_nsec >= 0 && until->tv_nsec < 1'000'000'000;
}
inline bool isClock(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

}  // namespace sonde::preload::sync
