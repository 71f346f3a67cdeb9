#include "collector/preload/cuda/counters/counter_contexts.h"

#include "collector/preload/common/process_fact.h"

#include <cstring>

namespace sonde::preload::cuda {

using cupti::Status;

void CounterContexts::split(const char* names) noexcept {
  std::strncpy(text_, names, sizeof text_ - 1);
  char* rest = nullptr;
  for (char* name = strtok_r(text_, ",", &rest); name != nullptr;
       name = strtok_r(nullptr, ",", &rest)) {
    if (wanted_.count == kMostMetrics)
      return;
    WantedMetric& metric = wanted_.metrics[wanted_.count++];
    metric.isOptional = *name == '?';
    metric.name = name + (metric.isOptional ? 1 : 0);
    char* const bar = std::strchr(name, '|');
    if (bar == nullptr)
      continue;
    *bar = '\0';
    metric.instead = bar + 1;
  }
}

bool CounterContexts::use(void* library, const cupti::Api& cupti, const char* names) noexcept {
  cupti_ = &cupti;
  split(names);
  const char* missing = nullptr;
  if (!cupti::bindProfiler(library, api_.profiler, missing)) {
    sayFact(kCounterFact,
            "not measured: this libcupti has no %s: CUDA 12.6 Update 2 or newer is needed",
            missing);
    return false;
  }
  if (!bindDriver(api_.driver, missing)) {
    sayFact(kCounterFact, "not measured: this CUDA driver has no %s", missing);
    return false;
  }
  return true;
}

const char* CounterContexts::textOf(Status status) const noexcept {
  const char* text = nullptr;
  return cupti_->getResultString(status, &text) == Status::Success && text != nullptr ? text
                                                                                      : "an error";
}

void CounterContexts::arrive(void* context) noexcept {
  for (std::atomic<void*>& arrival : arrivals_) {
    void* none = nullptr;
    if (arrival.compare_exchange_strong(none, context, std::memory_order_release))
      return;
  }
  sayFact(kCounterFact, "a CUDA context is not measured: there are more than %u", kMostContexts);
}

bool CounterContexts::leave(void* context) noexcept {
  for (std::atomic<void*>& arrival : arrivals_) {
    void* same = context;
    if (arrival.compare_exchange_strong(same, nullptr, std::memory_order_relaxed))
      return true;
  }
  return false;
}

void CounterContexts::depart(void* context) noexcept {
  for (std::atomic<void*>& departure : departures_) {
    void* none = nullptr;
    if (departure.compare_exchange_strong(none, context, std::memory_order_release))
      return;
  }
}

bool CounterContexts::hasDeparted(const CounterContext& context) const noexcept {
  for (const std::atomic<void*>& departure : departures_) {
    if (departure.load(std::memory_order_acquire) == context.handle())
      return context.handle() != nullptr;
  }
  return false;
}

void CounterContexts::abandonOne(CounterContext& context) noexcept {
  if (hasDeparted(context))
    context.forget(api_);
  else
    context.abandon(api_);
}

bool CounterContexts::abandon(void* context) noexcept {
  bool wasCollecting = false;
  for (CounterContext& place : contexts_) {
    if (place.handle() != context)
      continue;
    wasCollecting = wasCollecting || place.isCollecting();
    if (wait_.isWaitingFor(context))
      place.forget(api_);
    else
      place.abandon(api_);
  }
  return wasCollecting;
}

bool CounterContexts::giveBack() noexcept {
  bool isAll = true;
  for (CounterContext& context : contexts_) {
    if (context.isEnabled() && wait_.isWaitingFor(context.handle()))
      isAll = false;
    else
      abandonOne(context);
  }
  return isAll;
}

void* CounterContexts::nextArrival() noexcept {
  for (std::atomic<void*>& arrival : arrivals_) {
    if (void* const context = arrival.exchange(nullptr, std::memory_order_acquire);
        context != nullptr)
      return context;
  }
  return nullptr;
}

// Devices of one machine may differ; contexts of one device do not.
void CounterContexts::sayRefused(const CounterContext& context) noexcept {
  const GroupPlan& plan = context.plan();
  const std::uint64_t bit = std::uint64_t{1} << context.device() % 64;
  if ((saidRefused_ & bit) != 0)
    return;
  saidRefused_ |= bit;
  for (std::uint32_t at = 0; at < plan.refusedCount; ++at)
    sayFact(kCounterFact,
            "%s is not measured on device %u: %s",
            plan.refused[at].metric,
            context.device(),
            plan.refused[at].why);
}

CounterFailure CounterContexts::initialize() noexcept {
  if (isInitialized_)
    return {};
  auto initialize = cupti::parameters<cupti::ProfilerInitialize>();
  const Status status = api_.profiler.initialize(&initialize);
  isInitialized_ = status == Status::Success;
  return {status, "cuptiProfilerInitialize"};
}

bool CounterContexts::isMeasured(std::uint32_t device) const noexcept {
  for (const CounterContext& context : contexts_) {
    if (context.isEnabled() && context.device() == device)
      return true;
  }
  return false;
}

// Hardware counters belong to a device, not to a context. If one of several contexts fails, it is
// left out.
CounterFailure CounterContexts::enable(CounterContext& context) noexcept {
  CounterFailure failed = context.identify(api_);
  if (!failed && isMeasured(context.device())) {
    context.follow();
    return {};
  }
  if (!failed)
    failed = context.enable(api_, wanted_);
  if (!failed)
    sayRefused(context);
  if (!failed || !isAnyEnabled())
    return failed;
  sayFact(kCounterFact,
          "a further CUDA context, of device %u, is not measured: CUPTI answers %s (%d) to %s",
          context.device(),
          textOf(failed.status),
          static_cast<int>(failed.status),
          failed.function);
  context.forget(api_);
  return {};
}

CounterFailure CounterContexts::prepare() noexcept {
  if (const CounterFailure failed = initialize())
    return failed;
  for (CounterContext& context : contexts_) {
    if (context.handle() == nullptr)
      context.use(nextArrival());
    if (context.handle() == nullptr || context.isEnabled())
      continue;
    if (const CounterFailure failed = enable(context))
      return failed;
  }
  return {};
}

bool CounterContexts::isAnyEnabled() const noexcept {
  for (const CounterContext& context : contexts_) {
    if (context.isEnabled())
      return true;
  }
  return false;
}

bool CounterContexts::hasMetrics() const noexcept {
  for (const CounterContext& context : contexts_) {
    if (context.isEnabled() && context.plan().count > 0)
      return true;
  }
  return false;
}

template <typename Step>
CounterFailure CounterContexts::inEach(Step step) noexcept {
  for (CounterContext& context : contexts_) {
    if (!context.isEnabled() && !context.isFollower())
      continue;
    if (const CounterFailure failed = step(context))
      return failed;
  }
  return {};
}

CounterFailure CounterContexts::begin(std::uint64_t turn) noexcept {
  return inEach([&](CounterContext& context) noexcept { return context.begin(api_, turn); });
}

CounterFailure CounterContexts::settle() noexcept {
  return inEach([&](CounterContext& context) noexcept { return context.settle(api_, wait_); });
}

CounterFailure CounterContexts::open(std::uint32_t range) noexcept {
  if (const CounterFailure failed = settle())
    return failed;
  return inEach([&](CounterContext& context) noexcept { return context.open(api_, range); });
}

CounterFailure CounterContexts::close() noexcept {
  if (const CounterFailure failed = settle())
    return failed;
  return inEach([&](CounterContext& context) noexcept { return context.close(api_); });
}

CounterFailure CounterContexts::finish(CounterValues& values, std::uint64_t& lost) noexcept {
  return inEach(
      [&](CounterContext& context) noexcept { return context.finish(api_, values, lost); });
}

void CounterContexts::drop() noexcept {
  for (CounterContext& context : contexts_)
    context.drop(api_);
}

void CounterContexts::abandonAll() noexcept {
  for (CounterContext& context : contexts_)
    abandonOne(context);
}

}  // namespace sonde::preload::cuda
