#include "collector/preload/probes/cuda_counters.h"

#include "collector/core/device_work.h"
#include "collector/core/emit.h"
#include "collector/core/scope_watch.h"
#include "collector/core/signal_context.h"
#include "collector/core/symbol_versions.h"
#include "collector/core/thread_state.h"
#include "collector/preload/probes/counter_context.h"
#include "collector/preload/probes/process_fact.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <atomic>
#include <cstring>

namespace sonde::preload::cuda {
namespace {

using core::ScopeChange;

constexpr char kFact[] = "cuda counters";
constexpr std::uint32_t kMostContexts = 16;
constexpr std::size_t kMostNameBytes = 8 * 1024;

enum class State : int { Off, Waiting, Measuring };

struct Stretch {
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
};

// One iteration of one thread.
struct Pass {
  std::uint32_t token;       // of the iteration's scope
  std::uint32_t stretches;   // begun so far
  std::uint32_t unmeasured;  // for which there was no room
  bool isOpen;               // a stretch is
  bool isOver;               // the iteration has ended
};

// gState and gOwner say without the lock whether a scope concerns this at all.
std::atomic<State> gState{State::Off};
std::atomic<const core::ThreadState*> gOwner{nullptr};  // the thread that is measured
std::atomic<std::uint32_t> gGeneration{0};              // of the process that CUDA is used in
std::atomic<int> gCaptures{0};
// Contexts that came since the last pass. They are told of inside the driver, where the lock, whose
// holder may wait for the driver, must not be waited for.
std::atomic<void*> gArrivals[kMostContexts];

pthread_mutex_t gLock = PTHREAD_MUTEX_INITIALIZER;  // of what is below
char gText[kMostNameBytes];
MetricNames gWanted;
CounterApi gApi;
const cupti::Api* gCupti = nullptr;
bool gIsInitialized = false;
constinit CounterContext gContexts[kMostContexts];
Pass gPass;
Stretch gStretches[kMostRanges];
std::uint64_t gPasses = 0;
bool gHasSaidRefused = false;

class Lock {
 public:
  Lock() noexcept { pthread_mutex_lock(&gLock); }
  ~Lock() noexcept { pthread_mutex_unlock(&gLock); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

void splitNames(const char* text) noexcept {
  std::strncpy(gText, text, sizeof gText - 1);
  char* rest = nullptr;
  for (char* name = strtok_r(gText, ",", &rest); name != nullptr;
       name = strtok_r(nullptr, ",", &rest)) {
    if (gWanted.count < kMostMetrics)
      gWanted.names[gWanted.count++] = name;
  }
}

const char* resultText(cupti::Status status) noexcept {
  const char* text = nullptr;
  return gCupti->getResultString(status, &text) == cupti::Status::Success && text != nullptr
             ? text
             : "an error";
}

// Requires: gLock.
void turnOff() noexcept {
  if (gState.exchange(State::Off, std::memory_order_acq_rel) == State::Off)
    return;
  gOwner.store(nullptr, std::memory_order_release);
  for (CounterContext& context : gContexts)
    context.abandon(gApi);
}

// Requires: gLock. What has failed once will fail again, at a cost for each iteration.
bool endsAt(const CounterFailure& failed) noexcept {
  if (!failed)
    return false;
  sayFact(
      kFact,
      "not measured %s: CUPTI answers %s (%d) to %s: see docs/probes/cuda.md, Hardware counters",
      gPasses == 0 ? "at all" : "from here on",
      resultText(failed.status),
      static_cast<int>(failed.status),
      failed.function);
  turnOff();
  return true;
}

void sayRefused(const GroupPlan& plan) noexcept {
  if (gHasSaidRefused)
    return;
  gHasSaidRefused = true;
  for (std::uint32_t at = 0; at < plan.refusedCount; ++at)
    sayFact(kFact, "%s is not measured: %s", plan.refused[at].metric, plan.refused[at].why);
}

void* nextArrival() noexcept {
  for (std::atomic<void*>& arrival : gArrivals) {
    if (void* const context = arrival.exchange(nullptr, std::memory_order_acquire);
        context != nullptr)
      return context;
  }
  return nullptr;
}

// Requires: gLock. Contexts that have come since the last pass are prepared.
CounterFailure prepareContexts() noexcept {
  if (!gIsInitialized) {
    auto initialize = cupti::parameters<cupti::ProfilerInitialize>();
    const cupti::Status status = gApi.profiler.initialize(&initialize);
    if (status != cupti::Status::Success)
      return {status, "cuptiProfilerInitialize"};
    gIsInitialized = true;
  }
  for (CounterContext& context : gContexts) {
    if (context.handle() == nullptr)
      context.use(nextArrival());
    if (context.handle() == nullptr || context.isEnabled())
      continue;
    if (const CounterFailure failed = context.enable(gApi, gWanted))
      return failed;
    sayRefused(context.plan());
  }
  return {};
}

// Requires: gLock.
void beginPass(std::uint32_t token) noexcept {
  if (endsAt(prepareContexts()))
    return;
  bool isAny = false;
  for (CounterContext& context : gContexts) {
    if (context.handle() == nullptr)
      continue;
    if (endsAt(context.begin(gApi, gPasses)))
      return;
    isAny = isAny || context.plan().count > 0;
  }
  if (!isAny)
    return;
  gPass = {};
  gPass.token = token;
  gOwner.store(core::tState, std::memory_order_release);
  gState.store(State::Measuring, std::memory_order_release);
}

// Requires: gLock.
void openStretch() noexcept {
  if (gPass.isOpen)
    return;
  if (gPass.stretches == kMostRanges) {
    ++gPass.unmeasured;
    return;
  }
  const std::uint32_t number = gPass.stretches;
  for (CounterContext& context : gContexts) {
    if (context.handle() != nullptr && endsAt(context.open(gApi, number)))
      return;
  }
  gPass.isOpen = true;
  ++gPass.stretches;
  gStretches[number] = {core::ticks(), 0};
}

// Requires: gLock.
void closeStretch() noexcept {
  if (!gPass.isOpen)
    return;
  for (CounterContext& context : gContexts) {
    if (context.handle() != nullptr && endsAt(context.close(gApi)))
      return;
  }
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
  for (CounterContext& context : gContexts) {
    if (context.handle() != nullptr && endsAt(context.finish(gApi, takeValue, lost)))
      return;
  }
  if (lost > 0)
    core::countLoss(wire::Probe::Cuda,
                    wire::RecordKind::DeviceMetric,
                    wire::LossReason::Definitions,
                    static_cast<std::uint32_t>(lost));
  ++gPasses;
  gOwner.store(nullptr, std::memory_order_release);
  gState.store(State::Waiting, std::memory_order_release);
}

// In the process that CUDA was started in, not in a child of it.
bool isHere() noexcept {
  return gState.load(std::memory_order_acquire) != State::Off &&
         core::imageGeneration() == gGeneration.load(std::memory_order_relaxed);
}

// On the thread that is measured, and outside captures.
bool isMeasured() noexcept {
  return gState.load(std::memory_order_acquire) == State::Measuring &&
         gOwner.load(std::memory_order_relaxed) == core::tState &&
         gCaptures.load(std::memory_order_acquire) == 0 && isHere() &&
         !core::maybeInSignalHandler();
}

bool mayBegin(const ScopeChange& change) noexcept {
  return change.opens && change.kind == wire::SliceKind::Iteration &&
         gState.load(std::memory_order_acquire) == State::Waiting &&
         gCaptures.load(std::memory_order_acquire) == 0 && isHere() &&
         !core::maybeInSignalHandler();
}

void beforeChange() noexcept {
  if (!isMeasured())
    return;
  const int error = errno;
  {
    const Lock lock;
    if (gState.load(std::memory_order_relaxed) == State::Measuring)
      closeStretch();
  }
  errno = error;
}

// Requires: gLock.
void follow(const ScopeChange& change) noexcept {
  if (gState.load(std::memory_order_relaxed) == State::Measuring && gPass.isOver && !gPass.isOpen)
    finishPass();
  if (gState.load(std::memory_order_relaxed) == State::Waiting && mayBegin(change))
    beginPass(change.token);
  if (gState.load(std::memory_order_relaxed) == State::Measuring)
    openStretch();
}

void afterChange(ScopeChange change) noexcept {
  const bool isOwner = gState.load(std::memory_order_acquire) == State::Measuring &&
                       gOwner.load(std::memory_order_relaxed) == core::tState;
  if (isOwner && !change.opens && change.token != 0 && change.token == gPass.token)
    gPass.isOver = true;  // the owner's alone
  if (!isMeasured() && !mayBegin(change))
    return;
  const int error = errno;
  {
    const Lock lock;
    follow(change);
  }
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
  gCupti = &api;
  splitNames(getenv("SONDE_COUNTERS"));
  const char* missing = nullptr;
  if (!cupti::bindProfiler(library, gApi.profiler, missing)) {
    sayFact(kFact,
            "not measured: this libcupti has no %s: CUDA 12.6 Update 2 or newer is needed",
            missing);
    return;
  }
  if (!bindDriver(gApi.driver, missing)) {
    sayFact(kFact, "not measured: this CUDA driver has no %s", missing);
    return;
  }
  gGeneration.store(core::imageGeneration(), std::memory_order_relaxed);
  gState.store(State::Waiting, std::memory_order_release);
  core::gScopeWatch.store(&kWatch, std::memory_order_release);
}

void stopCounters() noexcept {
  if (!isHere())
    return;
  const Lock lock;
  if (gState.load(std::memory_order_relaxed) != State::Off)
    turnOff();
}

void contextCreated(void* context) noexcept {
  for (std::atomic<void*>& arrival : gArrivals) {
    void* none = nullptr;
    if (arrival.compare_exchange_strong(none, context, std::memory_order_release))
      return;
  }
  sayFact(kFact, "a CUDA context is not measured: more than %u came at once", kMostContexts);
}

void contextGoes(void* context) noexcept {
  for (std::atomic<void*>& arrival : gArrivals) {
    void* same = context;
    if (arrival.compare_exchange_strong(same, nullptr, std::memory_order_relaxed))
      return;
  }
  if (!isHere())
    return;
  timespec patience{};
  clock_gettime(CLOCK_REALTIME, &patience);
  patience.tv_sec += 1;
  if (pthread_mutex_timedlock(&gLock, &patience) != 0) {
    gState.store(State::Off, std::memory_order_release);  // its contexts are not to be touched
    return;
  }
  for (CounterContext& place : gContexts) {
    if (place.handle() == context)
      place.abandon(gApi);
  }
  pthread_mutex_unlock(&gLock);
}

void captureBegins() noexcept {
  gCaptures.fetch_add(1, std::memory_order_acq_rel);
}

void captureEnded() noexcept {
  int captures = gCaptures.load(std::memory_order_relaxed);
  while (captures > 0 && !gCaptures.compare_exchange_weak(captures, captures - 1)) {
  }
}

void tellOfCounters() noexcept {
  if (!isHere())
    return;
  const Lock lock;
  if (gPasses == 0)
    sayFact(kFact,
            "not measured: no iteration ended: mark them, as docs/probes/annotation.md says");
}

}  // namespace sonde::preload::cuda
