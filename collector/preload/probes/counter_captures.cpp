#include "collector/preload/probes/counter_captures.h"

#include <cstdint>

namespace sonde::preload::cuda {
namespace {

// Handles of default streams: CU_STREAM_LEGACY and, of each thread, CU_STREAM_PER_THREAD.
constexpr std::uintptr_t kLegacy = 1;
constexpr std::uintptr_t kPerThread = 2;

void* nameOf(void* stream) noexcept {
  return stream == nullptr ? reinterpret_cast<void*>(kLegacy) : stream;
}

// Whether the driver knows no capture of it. Of a default stream, which is never destroyed, the
// driver would tell what this thread's is.
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
    void* none = nullptr;
    if (!capture.stream.compare_exchange_strong(none, nameOf(stream), std::memory_order_seq_cst))
      continue;
    capture.context.store(context, std::memory_order_relaxed);
    return true;
  }
  return false;
}

void Captures::begun(void* stream) noexcept {
  for (Capture& capture : captures_) {
    if (capture.stream.load(std::memory_order_relaxed) == nameOf(stream) &&
        !capture.hasBegun.exchange(true, std::memory_order_release))
      return;
  }
}

// An entry is free only when it says again that nothing has begun.
template <typename Which>
void Captures::forget(Which which) noexcept {
  for (Capture& capture : captures_) {
    void* const stream = capture.stream.load(std::memory_order_acquire);
    if (stream == nullptr || !which(capture, stream))
      continue;
    capture.hasBegun.store(false, std::memory_order_relaxed);
    capture.context.store(nullptr, std::memory_order_relaxed);
    capture.stream.store(nullptr, std::memory_order_release);
  }
}

// A call of the runtime and the driver's in it are told of each, so that one stream may be there
// twice, and ends twice.
void Captures::ended(void* stream) noexcept {
  bool isDone = false;
  forget([&](const Capture&, void* its) noexcept {
    const bool isIt = !isDone && its == nameOf(stream);
    isDone = isDone || isIt;
    return isIt;
  });
}

void Captures::streamGoes(void* stream) noexcept {
  forget([&](const Capture&, void* its) noexcept { return its == stream; });
}

void Captures::contextGoes(void* context) noexcept {
  forget([&](const Capture& capture, void*) noexcept {
    return capture.context.load(std::memory_order_relaxed) == context;
  });
}

bool Captures::settle(const Driver& driver) noexcept {
  bool isAny = false;
  forget([&](const Capture& capture, void* stream) noexcept {
    const bool isLeft = capture.hasBegun.load(std::memory_order_acquire) && isOver(driver, stream);
    isAny = isAny || isLeft;
    return isLeft;
  });
  return isAny;
}

bool Captures::isAny() const noexcept {
  for (const Capture& capture : captures_) {
    if (capture.stream.load(std::memory_order_seq_cst) != nullptr)
      return true;
  }
  return false;
}

}  // namespace sonde::preload::cuda
