#include "collector/preload/stack/interposer/sampling.h"

#include "collector/core/platform/hooks.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/stack/interposer/code_ranges.h"
#include "collector/preload/stack/interposer/own_signal.h"
#include "collector/preload/stack/interposer/python_frames.h"
#include "collector/preload/stack/interposer/thread_copy.h"
#include "collector/preload/stack/interposer/thread_timers.h"
#include "collector/preload/stack/stack_hooks.h"

#include <errno.h>

#include <atomic>

namespace sonde::preload::stack {
namespace {

constinit const Hooks* gHooks = nullptr;
constinit std::atomic<long> gProcess{0};  // the process that is sampled
constinit std::atomic<bool> gHasSaidTicks{false};

constexpr std::size_t kMostBytes =
    sizeof(wire::StackSample) + wire::kStackRegisters * sizeof(std::uint64_t) +
    kMostPythonFrames * sizeof(wire::PythonFrame) + wire::kMaxStackBytes;
static_assert(kMostBytes <= 0xffff && kPythonRoom <= wire::kMaxStackBytes);
#if defined(__x86_64__)
constexpr int kStackPointer = 7;
#else
constexpr int kStackPointer = 31;
#endif

std::int64_t periodNs() noexcept {
  return 1'000'000'000 / gHooks->rule.perSecond;
}

// The part of a thread's time that is already reported.
struct Told {
  std::uint64_t untilTicks;    // end of the part that samples have reported
  std::uint64_t blockedTicks;  // waits reported since then
  std::uint64_t blockedUntil;
};
constinit __thread Told tTold __attribute__((tls_model("initial-exec"))) = {};

// Returns the time since the last sample without waits, and marks it as reported.
std::uint64_t tellAll(std::uint64_t now) noexcept {
  const std::uint64_t other = now - tTold.untilTicks - tTold.blockedTicks;
  tTold = {now, 0, now};
  return other;
}

// Returns the part of this wait that is not reported yet: waits may be nested, or have been
// sampled.
std::uint64_t tellBlocked(std::uint64_t begin, std::uint64_t end) noexcept {
  const std::uint64_t from = begin > tTold.blockedUntil ? begin : tTold.blockedUntil;
  if (end <= from)
    return 0;
  tTold.blockedTicks += end - from;
  tTold.blockedUntil = end;
  return end - from;
}

using CopyRegisters = void (*)(const void* from, std::uint64_t* to);

// `what` has everything that is known before the copy. Signals must be blocked.
void write(const wire::StackSample& what, CopyRegisters copyFrom, const void* from) noexcept {
  char* place = gHooks->reserve(kMostBytes);
  if (place == nullptr)
    return;
  auto* record = reinterpret_cast<wire::StackSample*>(place);
  auto* registers = reinterpret_cast<std::uint64_t*>(record + 1);
  copyFrom(from, registers);
  auto* python = reinterpret_cast<wire::PythonFrame*>(registers + wire::kStackRegisters);
  // The working memory is where the stack goes later, after the last of these frames.
  const std::uint32_t frames =
      readPythonFrames(reinterpret_cast<char*>(python + kMostPythonFrames), python);
  char* const stack = reinterpret_cast<char*>(python + frames);
  const StackCopy copy = copyStack(registers[kStackPointer], stack, wire::kMaxStackBytes);
  const std::size_t bytes = static_cast<std::size_t>(stack - place) + copy.bytes;
  *record = what;
  record->header.size = static_cast<std::uint16_t>(bytes);
  record->header.kind = wire::RecordKind::StackSample;
  if (copy.truncated)
    record->header.detail |= wire::StackSample::kTruncated;
  record->header.subject = copy.bytes;
  record->stackAddress = copy.address;
  record->pythonFrames = frames;
  gHooks->publish(bytes);
}

void sample(const void* context, std::int64_t weightNs) noexcept {
  wire::StackSample what{};
  what.ticks = gHooks->ticks();
  what.weight = static_cast<std::uint64_t>(weightNs);
  if ((gHooks->rule.flags & wire::StackRule::kWall) != 0)
    what.otherTicks = tellAll(what.ticks);
  write(what, copyRegisters, context);
}

// Blocks signals: neither Sonde's handler nor one of the host's that leaves by longjmp may
// interrupt this.
void take(const core::StackEvent& event) noexcept {
  if (!isSampling())
    return;
  wire::StackSample what{};
  what.header.detail = static_cast<std::uint8_t>(wire::StackSample::kEvent |
                                                 (event.blocked ? wire::StackSample::kBlocked : 0));
  what.ticks = event.beginTicks;
  what.correlation = event.correlation;
  const std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t before = 0;
  core::rawSyscall(
      SYS_rt_sigprocmask, SIG_SETMASK, core::asLong(&all), core::asLong(&before), sizeof all);
  if (event.blocked)
    what.weight = tellBlocked(event.beginTicks, event.endTicks);
  if (!event.blocked || what.weight > 0)
    write(what, copyOwnRegisters, nullptr);
  core::rawSyscall(SYS_rt_sigprocmask, SIG_SETMASK, core::asLong(&before), 0, sizeof before);
}

// A signal that another sender sent is ignored: the host does not use it.
void onSignal(int, siginfo_t* info, void* context) {
  const int error = errno;
  const Worth worth = timeOf(*info, context);
  if (worth.lost > 0)
    gHooks->lose(worth.lost);
  if (worth.ns > 0)
    sample(context, worth.ns);
  endHandler();
  errno = error;
}

void startOwnTimer() noexcept {
  const int failure = startTimer(periodNs());
  if (failure != 0 && !gHasSaidTicks.exchange(true, std::memory_order_relaxed))
    gHooks->say(failure == -EMFILE
                    ? "samples only at the kernel's ticks: few descriptors are allowed (ulimit -n)"
                    : "samples only at the kernel's ticks: perf events are not allowed here "
                      "(kernel.perf_event_paranoid above 2, or a container's rules)");
}

void onLost() noexcept {
  stopTimers();
  gHooks->say("ended: the program has a use of its own for SIGURG");
}

long processId() noexcept {
  return core::rawSyscall(SYS_getpid);
}

// The state here is the parent's.
void beginAnew() noexcept {
  gProcess.store(processId(), std::memory_order_relaxed);
  gHasSaidTicks.store(false, std::memory_order_relaxed);
  forgetTimers();
  forgetDescribing();
}

// A child of daemon(), of forkpty() or of a raw clone is not announced.
bool hasOwnMemory() noexcept {
  if (gProcess.load(std::memory_order_relaxed) == processId())
    return true;
  if (gHooks->inVforkChild())
    return false;
  beginAnew();
  return true;
}

void childBegins() noexcept {
  beginAnew();
  tellAll(gHooks->ticks());
  if (isSampling())
    startOwnTimer();
}

void processEnds() noexcept {
  if (isSampling())
    describeCode(gHooks->defineCode);
}

void stop() noexcept {
  if (!isSampling() || !hasOwnMemory())
    return;
  processEnds();
  forgetSignal();
  stopTimers();
}

constexpr Sampler kSampler = {childBegins, processEnds, stop, take};

}  // namespace

bool isSampling() noexcept {
  return gHooks != nullptr && hasSignal();
}

bool samplesNewThreads() noexcept {
  if (!isSampling() || !hasOwnMemory())
    return false;
  gHooks->attach();
  return true;
}

void beginThread(std::size_t stackBytes) noexcept {
  rememberStack(stackBytes);
  tellAll(gHooks->ticks());
  startOwnTimer();
}

void endThread() noexcept {
  endTimer();
}

}  // namespace sonde::preload::stack

using namespace sonde::preload::stack;

SONDE_EXPORT const Sampler* sonde_stack_begin(const Hooks* hooks) {
  if (hooks->version != kHooksVersion)
    return nullptr;
  gHooks = hooks;
  findPython(*hooks);
  prepareTimers();
  gProcess.store(processId(), std::memory_order_relaxed);
  setSignalOwner({hasOwnMemory, onLost});
  if (takeSignal(onSignal)) {
    describeCode(gHooks->defineCode);
    rememberStack();
    tellAll(gHooks->ticks());
    startOwnTimer();
  } else {
    gHooks->say("off: the program was started with SIGURG ignored");
  }
  return &kSampler;
}
