#include "collector/preload/cuda/cuda_capture.h"

#include "collector/core/emit.h"
#include "collector/core/platform/clock.h"
#include "collector/core/platform/signal_context.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"
#include "collector/preload/common/process_fact.h"
#include "collector/preload/cuda/activity/cuda_delivery.h"
#include "collector/preload/cuda/activity/cuda_flushing.h"
#include "collector/preload/cuda/counters/cuda_counters.h"
#include "collector/preload/cuda/cuda_callbacks.h"
#include "collector/preload/cuda/cuda_calls.h"
#include "collector/preload/cuda/cupti/cupti_library.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <atomic>
#include <cstring>
#include <utility>

namespace sonde::preload::cuda {
namespace {

using cupti::Kind;
using cupti::Status;

enum class State : int { Idle, Running, Over };
enum class UnifiedMemory { Off, Transfers, Faults };

// Devices and contexts come before records that refer to them.
constexpr Kind kKinds[] = {Kind::Device,
                           Kind::Context,
                           Kind::Stream,
                           Kind::Runtime,
                           Kind::Driver,
                           Kind::ConcurrentKernel,  // Kernel would make kernels wait for each other
                           Kind::Memcpy,
                           Kind::MemcpyPeer,
                           Kind::Memset,
                           Kind::Synchronization,
                           Kind::CudaEvent,
                           Kind::Memory,
                           Kind::MemoryPool,
                           Kind::ExternalCorrelation,
                           Kind::Overhead,
                           Kind::Jit};
// Records a graph's launch as one record. Without it each node has a record, which costs more.
constexpr Kind kWholeGraphs = Kind::GraphTrace;

constexpr std::uint32_t kFlushPeriodMs = 250;
constexpr char kFact[] = "cuda";                // the trace's name for problems …
constexpr char kLibraryFact[] = "sonde.cupti";  // … and for the library that recorded

pthread_mutex_t gLock = PTHREAD_MUTEX_INITIALIZER;  // guards everything below except gState
std::atomic<State> gState{State::Idle};
std::atomic<bool> gOthers{false};  // another tool used CUPTI before Sonde
std::int32_t gProcess = 0;         // the process in which the capture was started
void* gLibrary = nullptr;
cupti::Api gCupti;
cupti::Subscriber gSubscriber = nullptr;
UnifiedMemory gUnifiedMemory = UnifiedMemory::Off;

std::int32_t processId() noexcept {
  return static_cast<std::int32_t>(core::rawSyscall(SYS_getpid));
}

const char* resultText(Status status) noexcept {
  const char* text = nullptr;
  return gCupti.getResultString(status, &text) == Status::Success && text != nullptr ? text
                                                                                     : "an error";
}

std::uint64_t ticksForCupti() noexcept {
  return core::readTicks();
}

// The value of CUPTI's own clock, for a client that follows Sonde.
std::uint64_t realtime() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Suggests the option that records managed memory.
void hintAtManagedMemory() noexcept {
  static bool said = false;
  if (gUnifiedMemory == UnifiedMemory::Off && hasManagedMemory() && !std::exchange(said, true))
    sayFact(kFact,
            "the moves of managed memory are not recorded: --cuda-unified-memory transfers does");
}

bool isSet(const char* variable, const char* value) noexcept {
  const char* const text = getenv(variable);
  return text != nullptr && std::strcmp(text, value) == 0;
}

void disableAll() noexcept {
  gCupti.disable(Kind::UnifiedMemoryCounter);
  gCupti.disable(kWholeGraphs);
  for (const Kind kind : kKinds)
    gCupti.disable(kind);
}

void flushAtExit(int, void*) noexcept {
  tellOfCounters();
  finish();
}

// Enables the kinds that this CUPTI and driver support; kernels must be among them.
Status enableKinds() noexcept {
  for (const Kind kind : kKinds) {
    const Status status = gCupti.enable(kind);
    if (status != Status::Success && kind == Kind::ConcurrentKernel)
      return status;
  }
  if (!isSet("SONDE_CUDA_GRAPHS", "node"))
    gCupti.enable(kWholeGraphs);
  leaveOutNoise(gCupti);
  return Status::Success;
}

bool prepare() noexcept {
  gLibrary = cupti::openLibrary();
  const char* missing = nullptr;
  if (gLibrary == nullptr) {
    sayFact(
        kFact,
        "not recorded: libcupti is neither beside the CUDA runtime nor in a toolkit: install it "
        "(pip "
        "install nvidia-cuda-cupti)");
    return false;
  }
  if (!cupti::bind(gLibrary, gCupti, missing)) {
    sayFact(kFact, "not recorded: this libcupti has no %s", missing);
    return false;
  }
  std::uint32_t version = 0;
  if (gCupti.getVersion(&version) != Status::Success || !beginDelivery(gCupti, version)) {
    sayFact(
        kFact,
        "not recorded: CUPTI's version %u is not known to this version of Sonde, which reads those "
        "of CUDA 12 and 13",
        version);
    return false;
  }
  return true;
}

// Requires: gLock.
void run() noexcept {
  if (!prepare())
    return;
  gUnifiedMemory = isSet("SONDE_CUDA_UNIFIED_MEMORY", "transfers") ? UnifiedMemory::Transfers
                   : isSet("SONDE_CUDA_UNIFIED_MEMORY", "faults")  ? UnifiedMemory::Faults
                                                                   : UnifiedMemory::Off;
  const Status subscribed = gCupti.subscribe(&gSubscriber, onCallback, nullptr);
  if (subscribed == Status::MultipleSubscribers) {
    sayFact(kFact,
            "not recorded: another tool of this process has CUPTI (%s, %d)",
            resultText(subscribed),
            static_cast<int>(subscribed));
    return;
  }
  if (subscribed == Status::Success) {
    gCupti.registerTimestampCallback(ticksForCupti);
    gCupti.setThreadIdType(cupti::kSystemThreadIds);
    gState.store(State::Running, std::memory_order_release);  // before the first record
    gCupti.registerCallbacks(requestBuffer, completeBuffer);
  }
  const Status enabled = subscribed == Status::Success ? enableKinds() : subscribed;
  if (enabled != Status::Success) {
    sayFact(kFact,
            "not recorded: CUPTI answers %s (%d): is there a working driver, and may this user "
            "profile?",
            resultText(enabled),
            static_cast<int>(enabled));
    if (subscribed == Status::Success) {
      disableAll();
      gCupti.unsubscribe(gSubscriber);
    }
    gState.store(State::Over, std::memory_order_release);
    return;
  }
  core::emitProcessText(core::intern(kLibraryFact), core::intern(cupti::pathOf(gCupti)));
  startCounters(gLibrary, gCupti);
  enableCallbacks(gCupti, gSubscriber, true);
  gCupti.flushPeriod(kFlushPeriodMs);
  beginFlushing(gCupti);
  // Runs before the functions that the driver and CUPTI have registered.
  on_exit(flushAtExit, nullptr);
}

// Stores all records that CUPTI holds. Stores nothing and returns false in a forked child, where
// nothing is recorded, and in a signal handler. There the records are lost, and `countLost` counts
// them.
bool flushOr(void (*countLost)() noexcept) noexcept {
  if (gState.load(std::memory_order_acquire) != State::Running || gProcess != processId())
    return false;
  if (core::maybeInSignalHandler()) {
    sayFact(kFact,
            "some of it is lost: a device was reset or the process ended in a signal handler, with "
            "records in CUPTI's buffers");
    countLost();
    return false;
  }
  const int error = errno;
  gCupti.flushAll(cupti::kFlushForced);
  errno = error;
  return true;
}

}  // namespace

void start() noexcept {
  const int error = errno;
  pthread_mutex_lock(&gLock);
  if (gState.load(std::memory_order_acquire) == State::Idle) {
    gProcess = processId();
    if (gOthers.load(std::memory_order_acquire))
      sayFact(kFact, "not recorded: another tool of this process used CUPTI before");
    else
      run();
    if (gState.load(std::memory_order_acquire) == State::Idle)
      gState.store(State::Over, std::memory_order_release);
  }
  pthread_mutex_unlock(&gLock);
  errno = error;
}

void handOver(const char* function) noexcept {
  gOthers.store(true, std::memory_order_seq_cst);
  if (gState.load(std::memory_order_acquire) != State::Running || gProcess != processId())
    return;
  const int error = errno;
  pthread_mutex_lock(&gLock);
  if (gState.load(std::memory_order_acquire) == State::Running) {
    stopCounters(function);
    holdFlushing();
    enableCallbacks(gCupti, gSubscriber, false);
    gCupti.flushAll(0);
    disableAll();
    gCupti.flushAll(cupti::kFlushForced);
    endDelivery();
    gState.store(State::Over, std::memory_order_release);
    gCupti.unsubscribe(gSubscriber);
    gCupti.registerTimestampCallback(realtime);
    gCupti.setThreadIdType(0);
    gCupti.flushPeriod(0);
    sayFact(
        kFact, "not recorded from here on: another tool of this process uses CUPTI (%s)", function);
    core::emitMark(core::intern("CUDA recording ends: another tool uses CUPTI"), wire::Probe::Cuda);
  }
  pthread_mutex_unlock(&gLock);
  errno = error;
}

void contextComes() noexcept {
  using cupti::UnifiedMemoryKind;
  static std::atomic<bool> isFirst{true};
  if (gUnifiedMemory == UnifiedMemory::Off ||
      gState.load(std::memory_order_acquire) != State::Running ||
      !isFirst.exchange(false, std::memory_order_relaxed))
    return;
  if (gCupti.configureUnifiedMemory == nullptr) {
    sayFact(kFact, "unified memory is not recorded: this libcupti cannot count it");
    return;
  }
  cupti::UnifiedMemoryConfig counters[8];
  std::uint32_t count = 0;
  for (std::uint32_t kind = 1; kind <= 8; ++kind) {
    const auto counter = static_cast<UnifiedMemoryKind>(kind);
    const bool isTransfer = counter == UnifiedMemoryKind::BytesToDevice ||
                            counter == UnifiedMemoryKind::BytesToHost ||
                            counter == UnifiedMemoryKind::BytesBetweenDevices;
    if (isTransfer || gUnifiedMemory == UnifiedMemory::Faults)
      counters[count++] = {cupti::UnifiedMemoryConfig::kAllDevices, counter, 0, 1};
  }
  Status status = gCupti.configureUnifiedMemory(counters, count);
  if (status == Status::Success)
    status = gCupti.enable(Kind::UnifiedMemoryCounter);
  if (status != Status::Success)
    sayFact(kFact,
            "unified memory is not recorded: CUPTI answers %s (%d)",
            resultText(status),
            static_cast<int>(status));
  // Another client may have come meanwhile. It sets gOthers before everything is disabled.
  if (gOthers.load(std::memory_order_seq_cst))
    gCupti.disable(Kind::UnifiedMemoryCounter);
}

void flush() noexcept {
  flushOr(countDiscarded);
}

bool finish() noexcept {
  if (!flushOr(countUndelivered))
    return false;
  holdFlushing();
  endDelivery();
  hintAtManagedMemory();
  return true;
}

void resume() noexcept {
  resumeDelivery();
  resumeFlushing();
}

}  // namespace sonde::preload::cuda
