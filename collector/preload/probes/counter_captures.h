// The streams that are being captured into graphs, while which nothing may wait for the device. A
// capture is known from before the call that begins it until its end, which need not be a call:
// its stream may be destroyed, and a broken one may be left as it is. So the driver is asked, too.
//
// Any thread, no lock: most of it happens inside CUDA calls.
#pragma once

#include "collector/preload/probes/cuda_driver.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::cuda {

class Captures {
 public:
  constexpr Captures() noexcept = default;

  // A capture is about to begin. False: there is no room for it.
  bool begins(void* context, void* stream) noexcept;
  // It has begun.
  void begun(void* stream) noexcept;
  // It has ended, or did not begin.
  void ended(void* stream) noexcept;
  // The stream goes; all streams of the context do.
  void streamGoes(void* stream) noexcept;
  void contextGoes(void* context) noexcept;
  // Forgets what the driver says has ended. True: there was something.
  bool settle(const Driver& driver) noexcept;

  bool isAny() const noexcept;

 private:
  struct Capture {
    std::atomic<void*> stream{nullptr};  // kLegacy for nullptr; nullptr: the entry is free
    std::atomic<void*> context{nullptr};
    std::atomic<bool> hasBegun{false};
  };
  static constexpr std::uint32_t kMost = 64;

  template <typename Which>
  void forget(Which which) noexcept;

  Capture captures_[kMost];
};

}  // namespace sonde::preload::cuda
