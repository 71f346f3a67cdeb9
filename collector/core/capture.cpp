#include "collector/core/capture.h"

#include "collector/core/emit.h"
#include "collector/wire/iteration_keys.h"

#include <atomic>

namespace sonde::core {

constinit bool gCapturesRange = false;

namespace {

using Kind = wire::CaptureRule::Kind;

std::uint32_t gRangeName = 0;
std::uint32_t gNumberKey = 0;
std::uint32_t gCompleteKey = 0;
std::atomic<std::int64_t> gNext{0};         // number of the iteration that begins next
std::atomic<std::uint32_t> gRangesOpen{0};  // scopes of that name

const wire::CaptureRule& rule() noexcept {
  return gSpool.session->capture;
}

bool wants(const wire::CaptureRule& of, std::int64_t iteration) noexcept {
  if (of.kind == Kind::Iterations && (iteration < of.first || iteration > of.last))
    return false;
  const std::uint32_t every = of.every.load(std::memory_order_relaxed);
  return every < 2 || iteration % every == 0;
}

void setGate(bool open) noexcept {
  gSpool.control->gate.store(open ? wire::kGateOpen : wire::kGateOutline,
                             std::memory_order_relaxed);
}

}  // namespace

std::uint32_t firstGate(const wire::CaptureRule& of) noexcept {
  const bool open = of.kind == Kind::All || (of.kind == Kind::Iterations && wants(of, 0));
  return open ? wire::kGateOpen : wire::kGateOutline;
}

void prepareCapture() noexcept {
  gCapturesRange = rule().kind == Kind::Range;
  gRangeName = gCapturesRange ? intern(rule().range) : 0;
  gNumberKey = intern(SONDE_ITERATION_NUMBER);
  gCompleteKey = intern(SONDE_ITERATION_COMPLETE);
}

void forgetCapture() noexcept {
  gRangesOpen.store(0, std::memory_order_relaxed);
}

void scopeBegins(wire::SliceKind kind, std::uint32_t name) noexcept {
  if (gCapturesRange) {
    if (name == gRangeName && gRangesOpen.fetch_add(1, std::memory_order_relaxed) == 0)
      setGate(true);
  } else if (kind == wire::SliceKind::Iteration) {
    setGate(wants(rule(), gNext.fetch_add(1, std::memory_order_relaxed)));
  }
}

void scopeEnds(std::uint32_t name) noexcept {
  if (!gCapturesRange || name != gRangeName)
    return;
  std::uint32_t open = gRangesOpen.load(std::memory_order_relaxed);
  while (open > 0 && !gRangesOpen.compare_exchange_weak(open, open - 1)) {
  }
  if (open == 1)
    setGate(false);
}

// What comes between two iterations goes with the second one.
void iterationEnds() noexcept {
  if (!gCapturesRange)
    setGate(wants(rule(), gNext.load(std::memory_order_relaxed)));
}

// The number of an iteration comes right after its begin.
void iterationArgument(std::uint32_t key, std::int64_t value) noexcept {
  if (gCapturesRange)
    return;
  if (key == gNumberKey && value >= 0) {
    gNext.store(value + 1, std::memory_order_relaxed);
    setGate(wants(rule(), value));
  } else if (key == gCompleteKey && value == 0) {
    gNext.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace sonde::core
