// Waiting for a device, but not for ever: its kernels may wait for what the waiting thread does
// next. CUDA waits for a context without a limit, so a thread of Sonde's own does; it begins with
// the first wait, and is called sonde-counters.
//
// One caller at a time.
#pragma once

#include "collector/preload/probes/cuda_driver.h"

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
  static constexpr std::uint32_t kPatienceSeconds = 5;

  constexpr DeviceWait() noexcept = default;

  // For all that the context has been given. `driver` must stay. Requires: no wait was TooLong or
  // GivenUp.
  Waited wait(const Driver& driver, void* context) noexcept;

  // Whoever waits waits no more. Any thread.
  void giveUp() noexcept;

 private:
  static void* run(void* self) noexcept;
  bool start() noexcept;
  Waited untilAnswered(std::uint32_t request) noexcept;

  std::atomic<bool> isGivenUp_{false};
  std::atomic<std::uint32_t> requested_{0};  // their number; futexes
  std::atomic<std::uint32_t> answered_{0};
  const Driver* driver_ = nullptr;  // this and what follows: of the request
  void* context_ = nullptr;
  int result_ = 0;
  bool isRunning_ = false;
};

}  // namespace sonde::preload::cuda
