#include "collector/core/capture.h"

#include "collector/core/calibration.h"
#include "collector/core/emit.h"
#include "collector/core/platform/bounded.h"
#include "collector/core/platform/clock.h"
#include "collector/core/thread_state.h"
#include "collector/wire/iteration_keys.h"

#include <atomic>

namespace sonde::core {

constinit bool gCapturesRange = false;
constinit wire::GateHistory<kCaptureChanges> gCaptureChanges{};

namespace {

using Kind = wire::CaptureRule::Kind;
using wire::SliceKind;

std::uint32_t gRangeName = 0;
std::uint32_t gNumberKey = 0;
std::uint32_t gCompleteKey = 0;
// The number of the next iteration, or of the next range with that name.
std::atomic<std::int64_t> gNext{0};
std::atomic<std::uint32_t> gRangesOpen{0};  // scopes of that name
// The thread whose iterations drive the gate, identified by the address of its tState; nullptr: no
// thread has one open.
std::atomic<const void*> gDriver{nullptr};

const wire::CaptureRule& rule() noexcept {
  return gSpool.session->capture;
}

bool wants(const wire::CaptureRule& of, std::int64_t number) noexcept {
  if (of.kind == Kind::Iterations && (number < of.first || number > of.last))
    return false;
  const std::uint32_t every = of.every.load(std::memory_order_relaxed);
  return every < 2 || number % every == 0;
}

void setGate(bool open) noexcept {
  wire::setGate(gSpool.control->capture,
                gCaptureChanges,
                open ? wire::kGateOpen : wire::kGateOutline,
                readTicks);
}

// An open iteration of the calling thread: the outermost, or the one with this token.
wire::OpenScope* openIteration(std::uint32_t token = 0) noexcept {
  ThreadState* const state = tState;
  for (std::uint32_t at = 0; isCurrent(state) && at < state->scopeCount; ++at) {
    wire::OpenScope& scope = state->scopes[at];
    if (scope.kind == SliceKind::Iteration && (token == 0 || scope.token == token))
      return &scope;
  }
  return nullptr;
}

bool isDriver() noexcept {
  return gDriver.load(std::memory_order_relaxed) == &tState;
}

// Whether the scope that begins now on the calling thread drives the gate. Requires: no open
// iteration.
bool becomeDriver() noexcept {
  const void* driver = nullptr;
  return gDriver.compare_exchange_strong(driver, &tState) || driver == &tState;
}

// The driver's outermost iteration has this number.
void driveBy(std::int64_t number) noexcept {
  const bool isFull = wants(rule(), number);
  setGate(isFull);
  switchProbes(number, isFull);
}

// Between two iterations the gate is that of the next one, but no probe is masked.
void leaveDriving() noexcept {
  setGate(wants(rule(), gNext.load(std::memory_order_relaxed)));
  switchAllOn();
  gDriver.store(nullptr, std::memory_order_release);
}

// The last `count` of the open ranges have closed.
void rangesEnd(std::uint32_t count) noexcept {
  std::uint32_t open = 0;
  const auto left = [&](std::uint32_t before) { return before > count ? before - count : 0; };
  // If the exchange gives up, the ranges count as open: more is recorded than requested.
  if (exchangeWith(gRangesOpen, open, left) && left(open) == 0)
    setGate(false);
}

struct Gates {
  bool areOpen;
  std::uint32_t closings;
};

Gates readGates() noexcept {
  const std::uint64_t capture = gSpool.control->capture.load(std::memory_order_relaxed);
  const std::uint64_t recording = gSpool.control->recording.load(std::memory_order_relaxed);
  return {wire::gateMask(capture & recording) == wire::kGateOpen,
          wire::gateClosings(capture) + wire::gateClosings(recording)};
}

}  // namespace

std::uint32_t firstGate(const wire::CaptureRule& of) noexcept {
  const bool open = of.kind != Kind::Range && wants(of, 0);
  return open ? wire::kGateOpen : wire::kGateOutline;
}

void prepareCapture() noexcept {
  gCapturesRange = rule().kind == Kind::Range;
  gRangeName = gCapturesRange ? intern(rule().range) : 0;
  gNumberKey = intern(SONDE_ITERATION_NUMBER);
  gCompleteKey = intern(SONDE_ITERATION_COMPLETE);
  prepareCalibration();
}

void forgetCapture() noexcept {
  gNext.store(0, std::memory_order_relaxed);
  gRangesOpen.store(0, std::memory_order_relaxed);
  gDriver.store(nullptr, std::memory_order_relaxed);
  forgetCalibration();
}

void scopeBegins(SliceKind kind, std::uint32_t name) noexcept {
  if (gCapturesRange) {
    if (name == gRangeName && gRangesOpen.fetch_add(1, std::memory_order_relaxed) == 0)
      setGate(wants(rule(), gNext.fetch_add(1, std::memory_order_relaxed)));
  } else if (kind == SliceKind::Iteration) {
    const std::int64_t number = gNext.fetch_add(1, std::memory_order_relaxed);
    if (openIteration() == nullptr && becomeDriver()) {
      driveBy(number);
      beginCounting();
    }
  }
}

void scopeEnds(std::uint32_t name) noexcept {
  if (gCapturesRange && name == gRangeName)
    rangesEnd(1);
}

void iterationEnds() noexcept {
  if (isDriver() && openIteration() == nullptr)
    leaveDriving();
}

void stampSilent(wire::OpenScope& scope) noexcept {
  scope.stamp = readGates().closings;
}

// A gate that has closed since was open before; perhaps the other was not, which does no harm.
bool wasEverFullSince(const wire::OpenScope& silent) noexcept {
  const Gates now = readGates();
  return now.areOpen || now.closings != silent.stamp;
}

void stampIteration(std::uint32_t token) noexcept {
  wire::OpenScope* const iteration = openIteration(token);
  if (iteration == nullptr)
    return;
  const Gates now = readGates();
  iteration->stamp = now.areOpen ? now.closings : now.closings - 1;
}

bool wasFullSince(const wire::OpenScope& scope) noexcept {
  const Gates now = readGates();
  return now.areOpen && scope.stamp == now.closings;
}

std::uint32_t probesOf(const wire::OpenScope& iteration, bool& isDriving) noexcept {
  isDriving = isDriver() && &iteration == openIteration();
  return isDriving ? gSpool.control->probeMask.load(std::memory_order_relaxed)
                   : probesSince(iteration.beginTicks);
}

bool isFullIteration(std::uint32_t token) noexcept {
  const wire::OpenScope* const iteration = openIteration(token);
  return token != 0 && iteration != nullptr && wasFullSince(*iteration);
}

// The number of an iteration is set right after its begin.
void iterationArgument(std::uint32_t token, std::uint32_t key, std::int64_t value) noexcept {
  if (gCapturesRange || (key != gNumberKey && key != gCompleteKey))
    return;
  const wire::OpenScope* const iteration = openIteration(token);
  if (token == 0 || iteration == nullptr)
    return;
  if (key == gCompleteKey) {
    gNext.fetch_sub(value == 0 ? 1 : 0, std::memory_order_relaxed);
    return;
  }
  if (value < 0)
    return;
  gNext.store(value + 1, std::memory_order_relaxed);
  if (iteration == openIteration() && isDriver()) {
    driveBy(value);
    stampIteration(token);
  }
}

void captureThreadEnds(const ThreadState& state) noexcept {
  std::uint32_t ranges = 0;
  for (std::uint32_t at = 0; gCapturesRange && at < state.scopeCount; ++at)
    ranges += state.scopes[at].name == gRangeName ? 1 : 0;
  if (ranges > 0)
    rangesEnd(ranges);
  if (isDriver())
    leaveDriving();
}

}  // namespace sonde::core
