// Waiting for a device, but not for ever: its kernels may wait for what the waiting thread does
// next. CUDA waits for a context without a limit, so a thread of Sonde's own does; it begins with
// the first wait, is called sonde-counters, and ends when waiting was given up. Its calls of CUDA
// are not in the trace.
//
// One caller at a time.
#pragma once

#include "collector/preload/cuda/cupti/cuda_driver.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::cuda {

enum class Waited : std::uint8_t {
  Done,
  Failed,   // the driver's answer is an error
  TooLong,  // the device is not done; no more waits, this thread has the last one
  GivenUp,  // giveUp() was called
  NoThread,
};

class DeviceWait {
 public:
  static constexpr std::uint32_t kPatienceSeconds = 5;  // while which the process runs

  // True: done.
  using Afterwards = bool (*)() noexcept;

  constexpr DeviceWait() noexcept = default;

  // For all that the context has been given. `driver` must stay. Requires: no wait was TooLong or
  // GivenUp.
  Waited wait(const Driver& driver, void* context) noexcept;

  // Whoever waits waits no more. When the last wait is over after all, the thread that has it calls
  // `afterwards`, again from time to time until it is done, and ends. Any thread, once.
  void giveUp(Afterwards afterwards) noexcept;
  // Still, though nobody waits for the answer. Any thread.
  bool isWaitingFor(void* context) const noexcept;

 private:
  static void run(void* self) noexcept;
  void answer() noexcept;
  bool start() noexcept;
  Waited untilAnswered(std::uint32_t request) noexcept;

  std::atomic<Afterwards> afterwards_{nullptr};  // once it is given up
  std::atomic<void*> waitingFor_{nullptr};
  std::atomic<std::uint32_t> requested_{0};  // their number; futexes
  std::atomic<std::uint32_t> answered_{0};
  const Driver* driver_ = nullptr;  // this and what follows: of the request
  void* context_ = nullptr;
  int result_ = 0;
  bool isRunning_ = false;
};

}  // namespace sonde::preload::cuda
