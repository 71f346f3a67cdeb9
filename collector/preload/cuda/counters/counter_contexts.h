// All CUDA contexts of the process as the hardware counters see them: those that have come are
// prepared before the next pass, and each pass is in all of them.
//
// Within cuda_counters.cpp's lock, but for arrive(), leave(), depart() and giveUp().
#pragma once

#include "collector/preload/cuda/counters/counter_context.h"
#include "collector/preload/cuda/cupti/cupti_library.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::cuda {

inline constexpr char kCounterFact[] = "cuda counters";  // under which the trace says what is amiss

class CounterContexts {
 public:
  constexpr CounterContexts() noexcept = default;

  // `names` with commas between them, kept. One that begins with a question mark is not missed
  // where the GPU lacks it; of two with a bar between them the second is for GPUs without the
  // first. False: what is missing has been said.
  bool use(void* library, const cupti::Api& cupti, const char* names) noexcept;

  // A context came. Any thread, inside the driver: the lock, whose holder may wait for the driver,
  // must not be waited for there.
  void arrive(void* context) noexcept;
  // True: it had not been prepared, so that nothing else knows of it.
  bool leave(void* context) noexcept;
  // One goes while the lock is not to be had: nothing of CUPTI is called for it any more.
  void depart(void* context) noexcept;
  // True: the pass that is under way lacks it now.
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
  // Whoever waits for a device waits no more, and calls nothing of CUPTI. `afterwards`:
  // device_wait.h.
  void giveUp(DeviceWait::Afterwards afterwards) noexcept { wait_.giveUp(afterwards); }
  // Requires: giveUp(). Abandons all but those that are still waited for. True: there are none.
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
  std::uint64_t saidRefused_ = 0;  // a bit for each device
};

}  // namespace sonde::preload::cuda
