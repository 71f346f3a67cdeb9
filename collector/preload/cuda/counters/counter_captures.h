// The streams that are being captured into graphs. No thread may wait for the device meanwhile. A
// capture is known from before the call that begins it until its end. The end need not be a call:
// the program may destroy the stream, or leave a broken capture as it is. So the driver is asked,
// too.
//
// Any thread, no lock: most calls happen inside CUDA calls.
#pragma once

#include "collector/preload/cuda/cupti/cuda_driver.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::cuda {

class Captures {
 public:
  constexpr Captures() noexcept = default;

  // A capture is about to begin. False: there is no room to track it.
  bool begins(void* context, void* stream) noexcept;
  // The capture has begun.
  void begun(void* stream) noexcept;
  // The capture has ended, or did not begin.
  void ended(void* stream) noexcept;
  // The stream is destroyed; all streams of the context are destroyed.
  void streamGoes(void* stream) noexcept;
  void contextGoes(void* context) noexcept;
  // Forgets captures that, according to the driver, have ended. True: at least one.
  bool settle(const Driver& driver) noexcept;

  bool isAny() const noexcept;

 private:
  enum class State : std::uint8_t { Free, Claimed, Beginning, Begun };

  // An entry's capture and its state, in one word, so that the state of one capture is never
  // mistaken for that of the next one in the same entry.
  struct Capture {
    // The State, and above it the number of claims of the entry.
    std::atomic<std::uint64_t> word{0};
    std::atomic<void*> stream{nullptr};  // valid unless Free or Claimed
    std::atomic<void*> context{nullptr};
  };
  static constexpr std::uint32_t kMost = 64;

  static State stateOf(std::uint64_t word) noexcept { return static_cast<State>(word & 3); }
  static std::uint64_t inState(std::uint64_t word, State state) noexcept {
    return (word & ~std::uint64_t{3}) | static_cast<std::uint64_t>(state);
  }
  static bool isKnown(std::uint64_t word) noexcept { return stateOf(word) >= State::Beginning; }
  template <typename Which>
  static bool forget(Capture& capture, Which which) noexcept;

  Capture captures_[kMost];
};

}  // namespace sonde::preload::cuda
