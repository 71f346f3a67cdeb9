// The measurement of one iteration of one thread. It opens and closes stretches in all contexts,
// and stores their counts when the iteration is over. A measurement is stored completely or, if
// anything is missing, counted as lost.
//
// Call it with cuda_counters.cpp's lock held, except lose() and leaveOut().
#pragma once

#include "collector/preload/cuda/counters/counter_contexts.h"
#include "collector/preload/cuda/counters/counter_values.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::cuda {

class CounterPass {
 public:
  constexpr CounterPass() noexcept = default;

  // Starts to collect group `turn` of the metrics. `token`: of the iteration's scope.
  CounterFailure begin(CounterContexts& contexts, std::uint64_t turn, std::uint32_t token) noexcept;
  // These have no effect on a stretch that is already open or closed.
  CounterFailure open(CounterContexts& contexts) noexcept;
  CounterFailure close(CounterContexts& contexts) noexcept;
  // Requires: on the measured thread.
  CounterFailure finish(CounterContexts& contexts) noexcept;

  // Discards everything measured since begin() and counts it as lost. Any thread.
  void lose() noexcept;
  // Discards it without counting a loss. Any thread.
  void leaveOut() noexcept { stretches_.store(0, std::memory_order_relaxed); }

  std::uint32_t token() const noexcept { return token_; }
  bool isOpen() const noexcept { return isOpen_; }

 private:
  CounterFailure nextLap(CounterContexts& contexts) noexcept;
  void sayTooMany() noexcept;

  std::uint32_t token_ = 0;
  std::uint64_t turn_ = 0;
  bool isOpen_ = false;
  std::uint64_t dropped_ = 0;                // stretches that CUPTI dropped
  std::atomic<std::uint32_t> stretches_{0};  // begun, neither stored nor lost
  CounterValues values_;
  bool hasSaidTooMany_ = false;
};

}  // namespace sonde::preload::cuda
