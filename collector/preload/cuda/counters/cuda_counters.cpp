#include "collector/preload/cuda/counters/cuda_counters.h"

#include "collector/core/capture.h"
#include "collector/core/platform/bounded.h"
#include "collector/core/platform/signal_context.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/core/scope_watch.h"
#include "collector/core/thread_state.h"
#include "collector/preload/common/process_fact.h"
#include "collector/preload/cuda/counters/counter_captures.h"
#include "collector/preload/cuda/counters/counter_contexts.h"
#include "collector/preload/cuda/counters/counter_pass.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <atomic>

namespace sonde::preload::cuda {
namespace {

using core::ScopeChange;

constexpr std::uint32_t kNobody = 0xffff'ffff;
// If so many other iterations began meanwhile, the measured one must have ended unnoticed.
constexpr std::uint32_t kPatience = 64;

// Left: nothing is measured any more, but contexts may still have to be returned to CUPTI.
enum class State : int { Off, Waiting, Measuring, Left };

// gState and gOwner decide without the lock whether a scope is relevant.
std::atomic<State> gState{State::Off};
std::atomic<std::uint32_t> gOwner{
    kNobody};                               // the thread that is measured, as the spool counts them
std::atomic<std::uint32_t> gGeneration{0};  // of the process that CUDA is used in
constinit Captures gCaptures;
std::atomic<bool> gIsSpoilt{false};  // about the current pass
std::atomic<int> gCutting{0};        // threads that wait for the device, or are about to
constinit CounterContexts gContexts;
pthread_mutex_t gLock = PTHREAD_MUTEX_INITIALIZER;  // guards everything below
constinit CounterPass gPass;
bool gIsOver = false;                 // the iteration has ended; used by its thread only
std::atomic<bool> gIsLeftOut{false};  // part of it is not recorded in full
std::uint32_t gOthers = 0;            // iterations that began since the measured one did
std::uint64_t gTurn = 0;              // the group of metrics to measure next
std::atomic<std::uint64_t> gPasses{0};

class Lock {
 public:
  Lock() noexcept { pthread_mutex_lock(&gLock); }
  ~Lock() noexcept { pthread_mutex_unlock(&gLock); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

// False: the lock could not be taken in time; its holder may be waiting for a device.
bool lockWithin(std::uint32_t seconds) noexcept {
  timespec deadline{};
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += seconds;
  return pthread_mutex_timedlock(&gLock, &deadline) == 0;
}

// False: it had already ended.
bool endAs(State last) noexcept {
  State state = State::Off;
  const bool ends = core::exchangeWith(gState, state, [=](State now) {
    return now == State::Off || now == State::Left ? now : last;
  });
  if (!ends)
    return false;
  gOwner.store(kNobody, std::memory_order_release);
  gPass.lose();
  return true;
}

// Stops permanently. Requires: gLock. False: it had already ended.
bool turnOff() noexcept {
  if (!endAs(State::Off))
    return false;
  gContexts.abandonAll();
  return true;
}

// Requires: gLock.
void giveBack() noexcept {
  if (gState.load(std::memory_order_relaxed) == State::Left && gContexts.giveBack())
    gState.store(State::Off, std::memory_order_release);
}

// Runs on the thread that waits for devices, when its last wait is over. Does nothing during a
// capture, which it would break. True: done.
bool giveBackLater() noexcept {
  gCutting.fetch_add(1, std::memory_order_seq_cst);
  const bool may = !gCaptures.isAny();
  if (may) {
    const Lock lock;
    giveBack();
  }
  gCutting.fetch_sub(1, std::memory_order_seq_cst);
  return may;
}

// Returns the contexts to a new client, except those that are still waited for. It retries those
// for about a second.
void giveBackNow() noexcept {
  constexpr int kMoments = 20;
  constexpr timespec kMoment{0, 50'000'000};
  for (int moment = 0; gState.load(std::memory_order_acquire) == State::Left && moment < kMoments;
       ++moment) {
    if (moment > 0)
      nanosleep(&kMoment, nullptr);
    if (!lockWithin(1))
      return;
    giveBack();
    pthread_mutex_unlock(&gLock);
  }
}

// False if the state was not `from`, because CUPTI or a context went away meanwhile.
bool advance(State from, State to) noexcept {
  return gState.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

bool isOwner() noexcept {
  return core::isCurrent(core::tState) &&
         core::tState->thread == gOwner.load(std::memory_order_relaxed);
}

// Stops permanently without a call of CUPTI, which might also wait for the device. CUPTI is called
// later, when no thread waits. False: it had already ended.
bool leaveOff() noexcept {
  if (!endAs(State::Left))
    return false;
  gContexts.giveUp(giveBackLater);
  return true;
}

// Requires: gLock. The device may be waiting for the program, which would then be delayed in each
// iteration.
void endStuck() noexcept {
  if (!leaveOff())
    return;
  sayFact(kCounterFact,
          "not measured from here on: a device was not done after %u s: see docs/probes/cuda.md, "
          "Hardware counters",
          DeviceWait::kPatienceSeconds);
}

// Requires: gLock. A failure is likely to recur and would cost time in each iteration.
bool endsAt(const CounterFailure& failed) noexcept {
  if (!failed)
    return false;
  if (failed.isStuck) {
    endStuck();
    gPass.lose();  // even if another thread has ended it
    return true;
  }
  sayFact(
      kCounterFact,
      "not measured %s: CUPTI answers %s (%d) to %s: see docs/probes/cuda.md, Hardware counters",
      gPasses.load() == 0 ? "at all" : "from here on",
      gContexts.textOf(failed.status),
      static_cast<int>(failed.status),
      failed.function);
  turnOff();
  return true;
}

// Requires: gLock.
void beginPass(std::uint32_t token) noexcept {
  if (endsAt(gContexts.prepare()) || !gContexts.isAnyEnabled())
    return;
  if (!gContexts.hasMetrics()) {
    sayFact(kCounterFact, "not measured: none of the metrics can be measured here");
    turnOff();
    return;
  }
  if (endsAt(gPass.begin(gContexts, gTurn, token)))
    return;
  gIsOver = false;
  gIsLeftOut.store(false, std::memory_order_relaxed);
  gOthers = 0;
  gOwner.store(core::tState->thread, std::memory_order_release);
  advance(State::Waiting, State::Measuring);
}

// Requires: gLock.
void finishPass() noexcept {
  if (endsAt(gPass.finish(gContexts)))
    return;
  ++gTurn;
  gPasses.fetch_add(1);
  gOwner.store(kNobody, std::memory_order_release);
  advance(State::Measuring, State::Waiting);
}

// Requires: gLock. Discards the pass: its end is unknown, a part is missing, or it is not needed.
void dropPass() noexcept {
  gContexts.drop();
  if (gIsLeftOut.load(std::memory_order_relaxed))
    gPass.leaveOut();
  else
    gPass.lose();
  gOwner.store(kNobody, std::memory_order_release);
  advance(State::Measuring, State::Waiting);
}

// Whether this is the process in which CUDA was started, not a child of it.
bool isHere() noexcept {
  return gState.load(std::memory_order_acquire) != State::Off &&
         core::imageGeneration() == gGeneration.load(std::memory_order_relaxed);
}

// Whether this is the measured thread and waiting for the device does no harm. Requires: gCutting,
// which keeps captures from beginning meanwhile.
bool mayCut() noexcept {
  return isOwner() && !gCaptures.isAny() && isHere() && !core::maybeInSignalHandler();
}

// Whether an iteration other than the measured one begins.
bool isOther(const ScopeChange& change) noexcept {
  return change.opens && change.kind == wire::SliceKind::Iteration;
}

void beforeChange() noexcept {
  if (gState.load(std::memory_order_acquire) != State::Measuring || !isOwner())
    return;
  const int error = errno;
  if (!gIsOver && !core::isFullIteration(gPass.token()))
    gIsLeftOut.store(true, std::memory_order_relaxed);
  gCutting.fetch_add(1, std::memory_order_seq_cst);
  if (!gIsLeftOut.load(std::memory_order_relaxed) && mayCut()) {
    const Lock lock;
    if (gState.load(std::memory_order_relaxed) == State::Measuring)
      endsAt(gPass.close(gContexts));
  }
  gCutting.fetch_sub(1, std::memory_order_seq_cst);
  errno = error;
}

// Other threads never wait for the lock: the measured thread may hold it while its device waits for
// another thread's next action.
bool takeLock() noexcept {
  return (isOwner() ? pthread_mutex_lock(&gLock) : pthread_mutex_trylock(&gLock)) == 0;
}

// Whether a stream is being captured. Asks the driver once per iteration. Ranges that were not cut
// because of a capture that was abandoned are useless.
bool isCapturing(const ScopeChange& change) noexcept {
  if (!gCaptures.isAny())
    return false;
  if (isOther(change) && gCaptures.settle(gContexts.driver()))
    gIsSpoilt.store(true, std::memory_order_relaxed);
  return gCaptures.isAny();
}

// Requires: gLock, and mayCut() except for the thread.
void follow(const ScopeChange& change) noexcept {
  const bool isMeasuring = gState.load(std::memory_order_relaxed) == State::Measuring;
  const bool isSpoilt = gIsSpoilt.exchange(false, std::memory_order_relaxed);
  const bool isLeftOut = isOwner() && gIsLeftOut.load(std::memory_order_relaxed);
  if (isMeasuring && !isSpoilt && !isLeftOut && isOwner() && gIsOver && !gPass.isOpen())
    finishPass();
  else if (isMeasuring && (isSpoilt || isLeftOut || (isOther(change) && ++gOthers > kPatience)))
    dropPass();
  if (gState.load(std::memory_order_relaxed) == State::Waiting && isOther(change) &&
      core::isFullIteration(change.token))
    beginPass(change.token);
  if (gState.load(std::memory_order_relaxed) == State::Measuring && isOwner())
    endsAt(gPass.open(gContexts));
}

void afterChange(ScopeChange change) noexcept {
  const State state = gState.load(std::memory_order_acquire);
  const bool concerns = (state == State::Measuring && isOwner()) || isOther(change);
  if (state == State::Off || state == State::Left || !concerns)
    return;
  const int error = errno;
  gCutting.fetch_add(1, std::memory_order_seq_cst);
  if (isOwner() && !change.opens && change.token != 0 && change.token == gPass.token())
    gIsOver = true;
  if (isHere() && !core::maybeInSignalHandler() && !isCapturing(change) && takeLock()) {
    follow(change);
    pthread_mutex_unlock(&gLock);
  }
  gCutting.fetch_sub(1, std::memory_order_seq_cst);
  errno = error;
}

constexpr core::ScopeWatch kWatch{beforeChange, afterChange};

}  // namespace

bool wantsCounters() noexcept {
  const char* const names = getenv("SONDE_COUNTERS");
  return names != nullptr && *names != '\0';
}

void startCounters(void* library, const cupti::Api& api) noexcept {
  if (!wantsCounters())
    return;
  const Lock lock;
  if (!gContexts.use(library, api, getenv("SONDE_COUNTERS")))
    return;
  gGeneration.store(core::imageGeneration(), std::memory_order_relaxed);
  gState.store(State::Waiting, std::memory_order_release);
  core::gScopeWatch.store(&kWatch, std::memory_order_release);
}

void stopCounters(const char* function) noexcept {
  if (!isHere())
    return;
  const bool isLocked = lockWithin(DeviceWait::kPatienceSeconds + 1);
  const bool ends = isLocked ? turnOff() : leaveOff();
  if (isLocked)
    pthread_mutex_unlock(&gLock);
  giveBackNow();
  if (ends)
    sayFact(kCounterFact,
            "not measured from here on: another tool of this process uses CUPTI (%s)",
            function);
}

void contextCreated(void* context) noexcept {
  if (isHere())
    gContexts.arrive(context);
}

void streamGoes(void* stream) noexcept {
  gCaptures.streamGoes(stream);
}

// A pass that lacks the counts of one of its contexts is useless.
void contextGoes(void* context) noexcept {
  gCaptures.contextGoes(context);
  if (gContexts.leave(context) || !isHere())
    return;
  const int error = errno;
  if (lockWithin(1)) {
    if (gContexts.abandon(context))
      gIsSpoilt.store(true, std::memory_order_relaxed);
    pthread_mutex_unlock(&gLock);
  } else {
    // The lock's holder waits for the device. No function of CUPTI may be called any more.
    gContexts.depart(context);
    if (leaveOff())
      sayFact(kCounterFact, "not measured from here on: a CUDA context went while it was measured");
  }
  errno = error;
}

// The measured thread may be waiting for the device, which would break the capture.
void captureBegins(void* context, void* stream) noexcept {
  constexpr int kMoments = static_cast<int>(DeviceWait::kPatienceSeconds + 1) * 20'000;
  if (!gCaptures.begins(context, stream) && leaveOff())
    sayFact(kCounterFact, "not measured from here on: too many streams are captured at once");
  const int error = errno;
  for (int waited = 0; waited < kMoments && gCutting.load(std::memory_order_seq_cst) > 0;
       ++waited) {
    const timespec moment{0, 50'000};
    nanosleep(&moment, nullptr);
  }
  errno = error;
}

void captureBegun(void* stream) noexcept {
  gCaptures.begun(stream);
}

void captureEnded(void* stream) noexcept {
  gCaptures.ended(stream);
}

// Does not take the lock: its holder may wait for the device for long, or be this thread, in a
// signal handler.
void tellOfCounters() noexcept {
  State state = State::Left;  // CUPTI is about to be unloaded: nothing is returned to it
  if (!isHere() || gState.compare_exchange_strong(state, State::Off, std::memory_order_acq_rel))
    return;
  gPass.lose();
  const bool isCapturing = gCaptures.isAny();
  if (isCapturing && gPasses.load() == 0)
    sayFact(kCounterFact, "not measured: a stream was being captured whenever an iteration began");
  else if (isCapturing)
    sayFact(kCounterFact,
            "not measured to the end: the capture of a stream began and has not ended");
  else if (state == State::Measuring)
    sayFact(kCounterFact, "an iteration that did not end is not measured");
  else if (gPasses.load() == 0)
    sayFact(kCounterFact,
            "not measured: no iteration that is recorded in full ended: mark them, as "
            "docs/probes/annotation.md says");
}

}  // namespace sonde::preload::cuda
