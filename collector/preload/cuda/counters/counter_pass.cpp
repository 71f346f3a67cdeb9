#include "collector/preload/cuda/counters/counter_pass.h"

#include "collector/core/emit.h"
#include "collector/preload/common/process_fact.h"

#include <utility>

namespace sonde::preload::cuda {

CounterFailure CounterPass::begin(CounterContexts& contexts,
                                  std::uint64_t turn,
                                  std::uint32_t token) noexcept {
  token_ = token;
  turn_ = turn;
  isOpen_ = false;
  dropped_ = 0;
  values_.clear();
  return contexts.begin(turn);
}

// Reads the stretches so far from CUPTI, to make room for more.
CounterFailure CounterPass::nextLap(CounterContexts& contexts) noexcept {
  if (const CounterFailure failed = contexts.finish(values_, dropped_))
    return failed;
  values_.beginLap();
  return contexts.begin(turn_);
}

CounterFailure CounterPass::open(CounterContexts& contexts) noexcept {
  if (isOpen_)
    return {};
  if (values_.isLapFull()) {
    if (const CounterFailure failed = nextLap(contexts))
      return failed;
  }
  stretches_.fetch_add(1, std::memory_order_relaxed);
  if (const CounterFailure failed = contexts.open(values_.stretches()))
    return failed;
  isOpen_ = true;
  values_.beginStretch(core::ticks());
  return {};
}

CounterFailure CounterPass::close(CounterContexts& contexts) noexcept {
  if (!isOpen_)
    return {};
  if (const CounterFailure failed = contexts.close())
    return failed;
  isOpen_ = false;
  values_.endStretch(core::ticks());
  return {};
}

void CounterPass::sayTooMany() noexcept {
  if (!std::exchange(hasSaidTooMany_, true))
    sayFact(kCounterFact,
            "an iteration with more than %u values is not measured: name fewer metrics",
            static_cast<unsigned>(CounterValues::kMost));
}

CounterFailure CounterPass::finish(CounterContexts& contexts) noexcept {
  if (const CounterFailure failed = contexts.finish(values_, dropped_))
    return failed;
  if (values_.isIncomplete())
    sayTooMany();
  if (values_.isIncomplete() || dropped_ > 0) {
    lose();
    return {};
  }
  stretches_.store(0, std::memory_order_relaxed);
  values_.store();
  return {};
}

void CounterPass::lose() noexcept {
  const std::uint32_t lost = stretches_.exchange(0, std::memory_order_relaxed);
  if (lost > 0)
    core::countLoss(
        wire::Probe::Cuda, wire::RecordKind::DeviceMetric, wire::LossReason::Unbalanced, lost);
}

}  // namespace sonde::preload::cuda
