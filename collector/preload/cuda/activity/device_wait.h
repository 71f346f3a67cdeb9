// Waits for a device with a time limit, because its kernels may wait for the waiting thread's next
// action. CUDA waits for a context without a limit, so a thread of Sonde's does it. That thread,
// sonde-counters, starts with the first wait and ends after giveUp(). Its CUDA calls are not in the
// trace.
//
// One caller at a time.
#pragma once

#include "collector/preload/cuda/cupti/cuda_driver.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::cuda {

enum class Waited : std::uint8_t {
  Done,
  Failed,   // the driver returned an error
  TooLong,  // the device is not done; no more waits: the thread is still in this one
  GivenUp,  // giveUp() was called
  NoThread,
};

class DeviceWait {
 public:
  // Counts only time in which the process runs.
  static constexpr std::uint32_t kPatienceSeconds = 5;

  // Returns true when it is done.
  using Afterwards = bool (*)() noexcept;

  constexpr DeviceWait() noexcept = default;

  // Waits for all work that the context has been given. `driver` must outlive this. Requires: no
  // wait returned TooLong or GivenUp.
  Waited wait(const Driver& driver, void* context) noexcept;

  // Ends the wait of any caller. When the device's last wait is over, the waiting thread calls
  // `afterwards`, repeatedly until it is done, and ends. Any thread, once.
  void giveUp(Afterwards afterwards) noexcept;
  // Whether the thread still waits for the context, even if no caller needs the answer. Any thread.
  bool isWaitingFor(void* context) const noexcept;

 private:
  static void run(void* self) noexcept;
  void answer() noexcept;
  bool start() noexcept;
  Waited untilAnswered(std::uint32_t request) noexcept;

  std::atomic<Afterwards> afterwards_{nullptr};  // set once waiting is given up
  std::atomic<void*> waitingFor_{nullptr};
  std::atomic<std::uint32_t> requested_{0};  // counts of requests and answers; futexes
  std::atomic<std::uint32_t> answered_{0};
  const Driver* driver_ = nullptr;  // this and the following: of the request
  void* context_ = nullptr;
  int result_ = 0;
  bool isRunning_ = false;
};

}  // namespace sonde::preload::cuda
