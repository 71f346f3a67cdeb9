// All CUDA contexts of the process, for the hardware counters. New contexts are prepared before the
// next pass. Each pass runs in all of them.
//
// Call it with cuda_counters.cpp's lock held, except arrive(), leave(), depart() and giveUp().
#pragma once

#include "collector/preload/cuda/counters/counter_context.h"
#include "collector/preload/cuda/cupti/cupti_library.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::cuda {

inline constexpr char kCounterFact[] = "cuda counters";  // the trace's name for problems

class CounterContexts {
 public:
  constexpr CounterContexts() noexcept = default;

  // `names`: separated by commas; they are copied. A metric that starts with a question mark is
  // optional: nothing is reported if the GPU lacks it. With a bar between two names, the second is
  // for GPUs that lack the first. False: the problem has been reported.
  bool use(void* library, const cupti::Api& cupti, const char* names) noexcept;

  // A context was created. Any thread, inside the driver. It must not wait for the lock, whose
  // holder may wait for the driver.
  void arrive(void* context) noexcept;
  // True: the context had not been prepared, so nothing else refers to it.
  bool leave(void* context) noexcept;
  // A context is destroyed while the lock cannot be taken: no function of CUPTI is called for it
  // any more.
  void depart(void* context) noexcept;
  // True: the current pass has lost this context.
  bool abandon(void* context) noexcept;

  CounterFailure prepare() noexcept;
  // Whether any context is prepared; whether any has metrics that can be measured.
  bool isAnyEnabled() const noexcept;
  bool hasMetrics() const noexcept;

  // One pass, as in counter_context.h.
  CounterFailure begin(std::uint64_t turn) noexcept;
  CounterFailure open(std::uint32_t range) noexcept;
  CounterFailure close() noexcept;
  CounterFailure finish(CounterValues& values, std::uint64_t& lost) noexcept;
  void drop() noexcept;
  void abandonAll() noexcept;
  // Ends all waits for devices; the waiting callers call nothing of CUPTI. `afterwards`: see
  // device_wait.h.
  void giveUp(DeviceWait::Afterwards afterwards) noexcept { wait_.giveUp(afterwards); }
  // Requires: giveUp(). Abandons all contexts except those that are still waited for. True: there
  // are none.
  bool giveBack() noexcept;

  const Driver& driver() const noexcept { return api_.driver; }
  const char* textOf(cupti::Status status) const noexcept;

 private:
  static constexpr std::uint32_t kMostContexts = 16;
  static constexpr std::size_t kMostNameBytes = std::size_t{8} * 1024;

  void split(const char* names) noexcept;
  CounterFailure initialize() noexcept;
  CounterFailure enable(CounterContext& context) noexcept;
  bool isMeasured(std::uint32_t device) const noexcept;
  CounterFailure settle() noexcept;
  void* nextArrival() noexcept;
  bool hasDeparted(const CounterContext& context) const noexcept;
  void abandonOne(CounterContext& context) noexcept;
  void sayRefused(const CounterContext& context) noexcept;
  template <typename Step>
  CounterFailure inEach(Step step) noexcept;

  std::atomic<void*> arrivals_[kMostContexts]{};
  std::atomic<void*> departures_[kMostContexts]{};
  CounterContext contexts_[kMostContexts]{};
  CounterApi api_{};
  const cupti::Api* cupti_ = nullptr;
  WantedMetrics wanted_{};
  char text_[kMostNameBytes]{};
  DeviceWait wait_;
  bool isInitialized_ = false;
  std::uint64_t saidRefused_ = 0;  // one bit per device
};

}  // namespace sonde::preload::cuda
