#include "collector/preload/probes/cuda_counters.h"

#include "collector/core/device_work.h"
#include "collector/core/emit.h"
#include "collector/core/scope_watch.h"
#include "collector/core/signal_context.h"
#include "collector/core/symbol_versions.h"
#include "collector/core/thread_state.h"
#include "collector/preload/probes/counter_captures.h"
#include "collector/preload/probes/counter_contexts.h"
#include "collector/preload/probes/process_fact.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <atomic>

namespace sonde::preload::cuda {
namespace {

using core::ScopeChange;

constexpr std::uint32_t kNobody = 0xffff'ffff;
// An iteration during which so many others began has ended where its thread could not be seen.
constexpr std::uint32_t kPatience = 64;

enum class State : int { Off, Waiting, Measuring };

struct Stretch {
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
};

// One iteration of one thread.
struct Pass {
  std::uint32_t token;       // of the iteration's scope
  std::uint32_t skipped;     // stretches before the first that is measured
  std::uint32_t stretches;   // measured so far
  std::uint32_t unmeasured;  // of all others, those before and those for which there was no room
  bool isOpen;               // a stretch is
  std::uint32_t others;      // iterations that began meanwhile
  bool isOver;               // the iteration has ended
};

// gState and gOwner say without the lock whether a scope concerns this at all.
std::atomic<State> gState{State::Off};
std::atomic<std::uint32_t> gOwner{
    kNobody};                               // the thread that is measured, as the spool counts them
std::atomic<std::uint32_t> gGeneration{0};  // of the process that CUDA is used in
constinit Captures gCaptures;
std::atomic<bool> gIsSpoilt{false};  // the pass that is under way, by a capture
std::atomic<int> gCutting{0};        // threads that wait for the device, or are about to
constinit CounterContexts gContexts;
pthread_mutex_t gLock = PTHREAD_MUTEX_INITIALIZER;  // of what is below
Pass gPass;
Stretch gStretches[kMostRanges];
// What is measured next: of an iteration with more stretches than a pass has room for, further
// ones in each iteration, until all were; then the next group of metrics.
std::uint32_t gFirst = 0;
std::uint64_t gTurn = 0;
std::atomic<std::uint64_t> gPasses{0};
bool gHasSaidMany = false;

class Lock {
 public:
  Lock() noexcept { pthread_mutex_lock(&gLock); }
  ~Lock() noexcept { pthread_mutex_unlock(&gLock); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

// Requires: gLock.
void turnOff() noexcept {
  if (gState.exchange(State::Off, std::memory_order_acq_rel) == State::Off)
    return;
  gOwner.store(kNobody, std::memory_order_release);
  gContexts.abandonAll();
}

// False when it was not `from`, because CUPTI or a context went meanwhile.
bool advance(State from, State to) noexcept {
  return gState.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

bool isOwner() noexcept {
  return core::isCurrent(core::tState) &&
         core::tState->thread == gOwner.load(std::memory_order_relaxed);
}

void countUnmeasured(std::uint32_t stretches, wire::LossReason reason) noexcept {
  if (stretches > 0)
    core::countLoss(wire::Probe::Cuda, wire::RecordKind::DeviceMetric, reason, stretches);
}

// Ends for good without a call of CUPTI, which might wait for the device, too. False: it had ended.
bool leaveOff() noexcept {
  gContexts.giveUp();
  if (gState.exchange(State::Off, std::memory_order_acq_rel) == State::Off)
    return false;
  gOwner.store(kNobody, std::memory_order_release);
  return true;
}

// Requires: gLock. What the program waits for may be what its device waits for, so that it would
// be held up in each iteration.
void endStuck() noexcept {
  if (!leaveOff())
    return;
  sayFact(kCounterFact,
          "not measured from here on: a device was not done after %u s: see docs/probes/cuda.md, "
          "Hardware counters",
          DeviceWait::kPatienceSeconds);
  countUnmeasured(gPass.stretches, wire::LossReason::Unbalanced);
}

// Requires: gLock. What has failed once will fail again, at a cost for each iteration.
bool endsAt(const CounterFailure& failed) noexcept {
  if (!failed)
    return false;
  if (failed.isStuck) {
    endStuck();
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
  if (endsAt(gContexts.begin(gTurn)))
    return;
  gPass = {};
  gPass.token = token;
  gOwner.store(core::tState->thread, std::memory_order_release);
  advance(State::Waiting, State::Measuring);
}

// Requires: gLock.
void openStretch() noexcept {
  if (gPass.isOpen)
    return;
  if (gPass.skipped < gFirst || gPass.stretches == kMostRanges) {
    gPass.skipped += gPass.skipped < gFirst ? 1 : 0;
    ++gPass.unmeasured;
    return;
  }
  const std::uint32_t number = gPass.stretches;
  if (endsAt(gContexts.open(number)))
    return;
  gPass.isOpen = true;
  ++gPass.stretches;
  gStretches[number] = {core::ticks(), 0};
}

// Requires: gLock.
void closeStretch() noexcept {
  if (!gPass.isOpen)
    return;
  if (endsAt(gContexts.close()))
    return;
  gPass.isOpen = false;
  gStretches[gPass.stretches - 1].endTicks = core::ticks();
}

void takeValue(const MetricValue& value) noexcept {
  if (value.range >= gPass.stretches)
    return;
  wire::DeviceMetric record{};
  record.header.subject = core::intern(value.metric);
  record.beginTicks = gStretches[value.range].beginTicks;
  record.endTicks = gStretches[value.range].endTicks;
  record.value = value.value;
  record.device = value.device;
  core::emitDeviceMetric(record);
}

// Requires: gLock.
void finishPass() noexcept {
  std::uint64_t lost = gPass.unmeasured;
  if (endsAt(gContexts.finish(takeValue, lost)))
    return;
  countUnmeasured(static_cast<std::uint32_t>(lost), wire::LossReason::Definitions);
  if (gPass.unmeasured > 0 && !gHasSaidMany) {
    gHasSaidMany = true;
    sayFact(kCounterFact,
            "of an iteration %u stretches are measured, further ones in the next",
            kMostRanges);
  }
  const bool hasMore = gPass.unmeasured > gPass.skipped;
  gFirst = hasMore ? gFirst + kMostRanges : 0;
  gTurn += hasMore ? 0 : 1;
  gPasses.fetch_add(1);
  gOwner.store(kNobody, std::memory_order_release);
  advance(State::Measuring, State::Waiting);
}

// Requires: gLock. What the pass has collected is of no use: where it ends is not known.
void dropPass() noexcept {
  gContexts.drop();
  countUnmeasured(gPass.stretches, wire::LossReason::Unbalanced);
  gOwner.store(kNobody, std::memory_order_release);
  advance(State::Measuring, State::Waiting);
}

// In the process that CUDA was started in, not in a child of it.
bool isHere() noexcept {
  return gState.load(std::memory_order_acquire) != State::Off &&
         core::imageGeneration() == gGeneration.load(std::memory_order_relaxed);
}

// On the thread that is measured, and where waiting for the device does no harm. Requires:
// gCutting, which keeps captures from beginning meanwhile.
bool mayCut() noexcept {
  return isOwner() && !gCaptures.isAny() && isHere() && !core::maybeInSignalHandler();
}

// An iteration that is not the measured one begins.
bool isOther(const ScopeChange& change) noexcept {
  return change.opens && change.kind == wire::SliceKind::Iteration;
}

void beforeChange() noexcept {
  if (gState.load(std::memory_order_acquire) != State::Measuring || !isOwner())
    return;
  const int error = errno;
  gCutting.fetch_add(1, std::memory_order_seq_cst);
  if (mayCut()) {
    const Lock lock;
    if (gState.load(std::memory_order_relaxed) == State::Measuring)
      closeStretch();
  }
  gCutting.fetch_sub(1, std::memory_order_seq_cst);
  errno = error;
}

// The measured thread may hold the lock while its device waits for what another thread does next,
// which therefore never waits for it.
bool takeLock() noexcept {
  return (isOwner() ? pthread_mutex_lock(&gLock) : pthread_mutex_trylock(&gLock)) == 0;
}

// Whether a stream is being captured. Once in an iteration the driver is asked: what was not cut
// because of a capture that nobody ended is of no use.
bool isCapturing(const ScopeChange& change) noexcept {
  if (!gCaptures.isAny())
    return false;
  if (isOther(change) && gCaptures.settle(gContexts.driver()))
    gIsSpoilt.store(true, std::memory_order_relaxed);
  return gCaptures.isAny();
}

// Requires: gLock, and mayCut() but for the thread.
void follow(const ScopeChange& change) noexcept {
  const bool isMeasuring = gState.load(std::memory_order_relaxed) == State::Measuring;
  const bool isSpoilt = gIsSpoilt.exchange(false, std::memory_order_relaxed);
  if (isMeasuring && !isSpoilt && isOwner() && gPass.isOver && !gPass.isOpen)
    finishPass();
  else if (isMeasuring && (isSpoilt || (isOther(change) && ++gPass.others > kPatience)))
    dropPass();
  if (gState.load(std::memory_order_relaxed) == State::Waiting && isOther(change))
    beginPass(change.token);
  if (gState.load(std::memory_order_relaxed) == State::Measuring && isOwner())
    openStretch();
}

void afterChange(ScopeChange change) noexcept {
  const State state = gState.load(std::memory_order_acquire);
  const bool concerns = (state == State::Measuring && isOwner()) || isOther(change);
  if (state == State::Off || !concerns)
    return;
  const int error = errno;
  gCutting.fetch_add(1, std::memory_order_seq_cst);
  if (isOwner() && !change.opens && change.token != 0 && change.token == gPass.token)
    gPass.isOver = true;  // the owner's alone
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
  const Lock lock;
  if (gState.load(std::memory_order_relaxed) == State::Off)
    return;
  turnOff();
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

void contextGoes(void* context) noexcept {
  gCaptures.contextGoes(context);
  if (gContexts.leave(context))
    return;
  if (!isHere())
    return;
  timespec patience{};
  clock_gettime(CLOCK_REALTIME, &patience);
  patience.tv_sec += 1;
  const int error = errno;
  if (pthread_mutex_timedlock(&gLock, &patience) != 0) {
    // Whoever has the lock waits for the device; nothing of CUPTI is to be touched any more.
    if (leaveOff())
      sayFact(kCounterFact, "not measured from here on: a CUDA context went while it was measured");
    errno = error;
    return;
  }
  gContexts.abandon(context);
  pthread_mutex_unlock(&gLock);
  errno = error;
}

// The measured thread may be waiting for the device, which would break the capture that begins.
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

// Without the lock: the thread that has it may wait for the device for long, or be this one, in a
// signal handler.
void tellOfCounters() noexcept {
  if (!isHere())
    return;
  if (gState.load(std::memory_order_acquire) == State::Measuring)
    sayFact(kCounterFact, "an iteration that did not end is not measured");
  else if (gPasses.load() == 0 && gCaptures.isAny())
    sayFact(kCounterFact, "not measured: a stream was being captured whenever an iteration began");
  else if (gPasses.load() == 0)
    sayFact(kCounterFact,
            "not measured: no iteration ended: mark them, as docs/probes/annotation.md says");
}

}  // namespace sonde::preload::cuda
