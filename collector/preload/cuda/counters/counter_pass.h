// What is measured of one iteration of one thread: it opens and closes stretches, in all contexts,
// and stores what they counted when the iteration is over. It is stored whole or not at all: what
// is not stored is counted as lost.
//
// Within cuda_counters.cpp's lock, but for lose().
#pragma once

#include "collector/preload/cuda/counters/counter_contexts.h"
#include "collector/preload/cuda/counters/counter_values.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::cuda {

class CounterPass {
 public:
  constexpr CounterPass() noexcept = default;

  // It collects group number `turn` of the metrics. `token`: of the iteration's scope.
  CounterFailure begin(CounterContexts& contexts, std::uint64_t turn, std::uint32_t token) noexcept;
  // Without effect on one that is open, or closed, already.
  CounterFailure open(CounterContexts& contexts) noexcept;
  CounterFailure close(CounterContexts& contexts) noexcept;
  // Requires: on the measured thread.
  CounterFailure finish(CounterContexts& contexts) noexcept;

  // What was measured since begin() is of no use. Any thread.
  void lose() noexcept;
  // It is of no concern, and no loss. Any thread.
  void leaveOut() noexcept { stretches_.store(0, std::memory_order_relaxed); }

  std::uint32_t token() const noexcept { return token_; }
  bool isOpen() const noexcept { return isOpen_; }

 private:
  CounterFailure nextLap(CounterContexts& contexts) noexcept;
  void sayTooMany() noexcept;

  std::uint32_t token_ = 0;
  std::uint64_t turn_ = 0;
  bool isOpen_ = false;
  std::uint64_t dropped_ = 0;                // stretches, by CUPTI
  std::atomic<std::uint32_t> stretches_{0};  // begun, and neither stored nor lost
  CounterValues values_;
  bool hasSaidTooMany_ = false;
};

}  // namespace sonde::preload::cuda
