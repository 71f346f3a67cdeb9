// The streams that are being captured into graphs, while which nothing may wait for the device. A
// capture is known from before the call that begins it until its end, which need not be a call:
// its stream may be destroyed, and a broken one may be left as it is. So the driver is asked, too.
//
// Any thread, no lock: most of it happens inside CUDA calls.
#pragma once

#include "collector/preload/cuda/cupti/cuda_driver.h"

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
  enum class State : std::uint8_t { Free, Claimed, Beginning, Begun };

  // Which capture an entry has, and how far that is, in one word: what is known of one is never
  // taken for what is known of the next one in the same entry.
  struct Capture {
    std::atomic<std::uint64_t> word{0};  // State, and above it how often the entry was claimed
    std::atomic<void*> stream{nullptr};  // of what is not Free or Claimed
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
