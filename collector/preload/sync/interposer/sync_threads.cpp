// Joining a thread: the thread's end wakes the joiner.

#include "collector/core/platform/hooks.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/preload/sync/interposer/waiting.h"

#include <pthread.h>

SONDE_OLD_SYMBOL(pthread_getcpuclockid);

namespace sonde::preload::sync {
namespace {

using core::Real;

using JoinCall = int (*)(pthread_t, void**);
using JoinUntil = int (*)(pthread_t, void**, const timespec*);
using JoinClock = int (*)(pthread_t, void**, clockid_t, const timespec*);

constinit Real<JoinCall> gJoin{"pthread_join"};
constinit Real<JoinCall> gTryJoin{"pthread_tryjoin_np"};
constinit Real<JoinUntil> gTimedJoin{"pthread_timedjoin_np"};
constinit Real<JoinClock> gClockJoin{"pthread_clockjoin_np"};

__attribute__((constructor(102))) void resolve() {
  gJoin();
  gTryJoin();
  gTimedJoin();
  gClockJoin();
}

// The kernel's id of a thread, taken from the id of its clock, which is ~tid << 3 plus the clock's
// type. 0: the thread has just ended.
std::int32_t tidOf(pthread_t thread) noexcept {
  clockid_t clock = 0;
  return pthread_getcpuclockid(thread, &clock) == 0 ? ~(clock >> 3) : 0;
}

// Records the wait even for a thread that has recorded nothing and whose end is not seen.
template <typename Block>
int join(const char* name, pthread_t thread, void** result, Block block) {
  if (!isOn())
    return block();
  if (const int tried = gTryJoin()(thread, result); tried != EBUSY)
    return tried;
  const std::int32_t tid = tidOf(thread);
  const Wait wait = beginWait({name, wire::SyncObject::Thread, Rule::Holder},
                              {static_cast<std::uint64_t>(thread), false, 0, tid});
  // A thread that has ended since has no id any more.
  if (const int tried = gTryJoin()(thread, result); tried != EBUSY) {
    dropWait(wait);
    return tried;
  }
  const int joined = block();
  endWait(wait, outcomeOf(joined), tid);
  return joined;
}

}  // namespace
}  // namespace sonde::preload::sync

using namespace sonde::preload::sync;

SONDE_EXPORT int pthread_join(pthread_t thread, void** result) {
  return join("pthread_join", thread, result, [=] { return gJoin()(thread, result); });
}

SONDE_EXPORT int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* until) {
  return join(
      "pthread_timedjoin_np", thread, result, [=] { return gTimedJoin()(thread, result, until); });
}

SONDE_EXPORT int pthread_clockjoin_np(pthread_t thread,
                                      void** result,
                                      clockid_t clock,
                                      const timespec* until) {
  const JoinClock real = gClockJoin();
  if (real == nullptr)
    return EINVAL;
  const auto block = [=] { return real(thread, result, clock, until); };
  return isClock(clock) ? join("pthread_clockjoin_np", thread, result, block) : block();
}
