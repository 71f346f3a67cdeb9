#include "collector/core/calibration.h"

#include "collector/core/emit.h"
#include "collector/core/platform/clock.h"
#include "collector/core/spool.h"

namespace sonde::core {

constinit bool gCalibrates = false;
constinit wire::Gate gCudaGate{wire::kGateOpen};
constinit wire::GateHistory<kCaptureChanges> gCudaChanges{};

namespace {

constexpr int kProbes = static_cast<int>(wire::Probe::Count);

// The latest switches: switch N is at N modulo kSwitches. Only the driver writes them.
struct Switch {
  std::atomic<std::uint64_t> ticks;
  std::atomic<std::uint32_t> mask;  // from then on
};
constexpr std::uint64_t kSwitches = 256;
Switch gSwitches[kSwitches];
std::atomic<std::uint64_t> gSwitchCount{0};

CallCounts gBefore;  // of the driver: when its iteration began

const wire::CalibrationRule& rule() noexcept {
  return gSpool.session->calibration;
}

void setMask(std::uint32_t mask) noexcept {
  std::atomic<std::uint32_t>& current = gSpool.control->probeMask;
  if (current.load(std::memory_order_relaxed) == mask)
    return;
  const std::uint64_t number = gSwitchCount.load(std::memory_order_relaxed);
  Switch& place = gSwitches[number % kSwitches];
  place.ticks.store(readTicks(), std::memory_order_relaxed);
  place.mask.store(mask, std::memory_order_relaxed);
  gSwitchCount.store(number + 1, std::memory_order_release);
  current.store(mask, std::memory_order_relaxed);
  if ((gSpool.control->sources & wire::probeBit(wire::Probe::Cuda)) != 0)
    wire::setGate(
        gCudaGate,
        gCudaChanges,
        (mask & wire::probeBit(wire::Probe::Cuda)) != 0 ? wire::kGateOpen : wire::kGateOutline,
        readTicks);
}

}  // namespace

void prepareCalibration() noexcept {
  gCalibrates = rule().blockIterations != 0 && rule().maskable != 0;
}

void forgetCalibration() noexcept {
  if (!gCalibrates)
    return;
  gSwitchCount.store(0, std::memory_order_relaxed);
  wire::setGate(gCudaGate, gCudaChanges, wire::kGateOpen, readTicks);
}

void beginCounting() noexcept {
  if (gCalibrates)
    gBefore = sumOfCalls();
}

void switchProbes(std::int64_t number, bool isFull) noexcept {
  if (gCalibrates)
    setMask(gSpool.control->sources & ~(isFull ? wire::maskedProbesOf(rule(), number) : 0));
}

void switchAllOn() noexcept {
  if (gCalibrates)
    setMask(gSpool.control->sources);
}

std::uint32_t probesSince(std::uint64_t ticks) noexcept {
  const std::uint32_t sources = gSpool.control->sources;
  const std::uint64_t count = gSwitchCount.load(std::memory_order_acquire);
  std::uint32_t mask = sources;
  // Reads only half of the places, because the driver may write to the others meanwhile.
  for (std::uint64_t back = 1; back <= count && back <= kSwitches / 2; ++back) {
    const Switch& place = gSwitches[(count - back) % kSwitches];
    mask &= place.mask.load(std::memory_order_relaxed);
    if (place.ticks.load(std::memory_order_relaxed) <= ticks)
      return mask;
  }
  return count <= kSwitches / 2 ? mask : sources & ~rule().maskable;
}

std::uint32_t takeCounts(wire::ProbeCalls (&calls)[kProbes]) noexcept {
  const CallCounts now = sumOfCalls();
  std::uint32_t count = 0;
  for (int probe = 0; probe < kProbes; ++probe) {
    const std::uint32_t recorded = now.recorded[probe] - gBefore.recorded[probe];
    const std::uint32_t unrecorded = now.unrecorded[probe] - gBefore.unrecorded[probe];
    // Records of `process` are readings of the clocks, not calls of the program.
    if ((recorded != 0 || unrecorded != 0) && probe != static_cast<int>(wire::Probe::Process))
      calls[count++] = {recorded, unrecorded, static_cast<wire::Probe>(probe), {}};
  }
  return count;
}

bool isMasked(wire::Probe probe) noexcept {
  const wire::ControlPage& control = *gSpool.control;
  const std::uint32_t masked = control.sources & ~control.probeMask.load(std::memory_order_relaxed);
  return gCalibrates && (masked & wire::probeBit(probe) &
                         wire::gateMask(control.capture.load(std::memory_order_relaxed) &
                                        control.recording.load(std::memory_order_relaxed))) != 0;
}

void countUnrecorded(wire::Probe probe, std::uint32_t calls) noexcept {
  if (!isMasked(probe))
    return;
  ThreadState* state = tState;
  if (!isCurrent(state))
    state = registerSelf();
  if (state == nullptr)
    return;
  std::atomic<std::uint32_t>& counter = state->unrecorded[static_cast<int>(probe)];
  counter.store(counter.load(std::memory_order_relaxed) + calls, std::memory_order_relaxed);
}

}  // namespace sonde::core
