#include "collector/preload/cuda/counters/counter_captures.h"

#include <cstdint>

namespace sonde::preload::cuda {
namespace {

// Handles of default streams: CU_STREAM_LEGACY and, for each thread, CU_STREAM_PER_THREAD.
constexpr std::uintptr_t kLegacy = 1;
constexpr std::uintptr_t kPerThread = 2;

constexpr std::uint64_t kClaim = 4;  // one claim of an entry, in its word

void* nameOf(void* stream) noexcept {
  return stream == nullptr ? reinterpret_cast<void*>(kLegacy) : stream;
}

// Whether the driver reports no capture of the stream. For a per-thread default stream, the driver
// would answer for the calling thread's. Default streams are never destroyed.
bool isOver(const Driver& driver, void* stream) noexcept {
  constexpr int kActive = 1;           // CUstreamCaptureStatus
  constexpr int kInvalidHandle = 400;  // CUresult
  constexpr int kContextDestroyed = 709;
  if (reinterpret_cast<std::uintptr_t>(stream) <= kPerThread)
    return false;
  int status = kActive;
  const int result = driver.isCapturing(stream, &status);
  return result == 0 ? status != kActive : result == kInvalidHandle || result == kContextDestroyed;
}

}  // namespace

bool Captures::begins(void* context, void* stream) noexcept {
  for (Capture& capture : captures_) {
    std::uint64_t word = capture.word.load(std::memory_order_relaxed);
    const std::uint64_t next = inState(word, State::Claimed) + kClaim;
    if (stateOf(word) != State::Free ||
        !capture.word.compare_exchange_strong(word, next, std::memory_order_seq_cst))
      continue;
    capture.stream.store(nameOf(stream), std::memory_order_relaxed);
    capture.context.store(context, std::memory_order_relaxed);
    capture.word.store(inState(next, State::Beginning), std::memory_order_release);
    return true;
  }
  return false;
}

void Captures::begun(void* stream) noexcept {
  for (Capture& capture : captures_) {
    std::uint64_t word = capture.word.load(std::memory_order_acquire);
    if (stateOf(word) == State::Beginning &&
        capture.stream.load(std::memory_order_relaxed) == nameOf(stream) &&
        capture.word.compare_exchange_strong(
            word, inState(word, State::Begun), std::memory_order_acq_rel))
      return;
  }
}

// Whether an entry that `which` accepted was removed. If its capture has begun meanwhile, `which`
// is asked again. If another capture is in its place, the entry stays.
template <typename Which>
bool Captures::forget(Capture& capture, Which which) noexcept {
  // Ends: a try fails once if the capture has begun meanwhile; any other failure is the last.
  for (std::uint64_t word = capture.word.load(std::memory_order_acquire);;) {
    const std::uint64_t before = word;
    if (!isKnown(word) || !which(capture, stateOf(word)))
      return false;
    if (capture.word.compare_exchange_strong(
            word, inState(word, State::Free), std::memory_order_acq_rel))
      return true;
    if (word != inState(before, State::Begun))
      return false;
  }
}

// The runtime call and the driver call in it both report a capture. So a stream may have two
// entries and end twice.
void Captures::ended(void* stream) noexcept {
  for (Capture& capture : captures_) {
    if (forget(capture, [&](const Capture& its, State) noexcept {
          return its.stream.load(std::memory_order_relaxed) == nameOf(stream);
        }))
      return;
  }
}

void Captures::streamGoes(void* stream) noexcept {
  for (Capture& capture : captures_)
    forget(capture, [&](const Capture& its, State) noexcept {
      return its.stream.load(std::memory_order_relaxed) == stream;
    });
}

void Captures::contextGoes(void* context) noexcept {
  for (Capture& capture : captures_)
    forget(capture, [&](const Capture& its, State) noexcept {
      return its.context.load(std::memory_order_relaxed) == context;
    });
}

bool Captures::settle(const Driver& driver) noexcept {
  bool isAny = false;
  for (Capture& capture : captures_)
    isAny = forget(capture,
                   [&](const Capture& its, State state) noexcept {
                     return state == State::Begun &&
                            isOver(driver, its.stream.load(std::memory_order_relaxed));
                   }) ||
            isAny;
  return isAny;
}

bool Captures::isAny() const noexcept {
  for (const Capture& capture : captures_) {
    if (stateOf(capture.word.load(std::memory_order_seq_cst)) != State::Free)
      return true;
  }
  return false;
}

}  // namespace sonde::preload::cuda
