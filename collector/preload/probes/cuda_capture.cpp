#include "collector/preload/probes/cuda_capture.h"

#include "collector/core/clock.h"
#include "collector/core/emit.h"
#include "collector/core/signal_context.h"
#include "collector/core/spool.h"
#include "collector/core/symbol_versions.h"
#include "collector/core/syscalls.h"
#include "collector/core/thread_state.h"
#include "collector/preload/probes/cuda_buffers.h"
#include "collector/preload/probes/cuda_callbacks.h"
#include "collector/preload/probes/cuda_counters.h"
#include "collector/preload/probes/cuda_decode.h"
#include "collector/preload/probes/cupti_library.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace sonde::preload::cuda {
namespace {

using cupti::Domain;
using cupti::Kind;
using cupti::Status;

enum class State : int { Idle, Running, Over };

constexpr Kind kKinds[] = {Kind::Device,  // devices and contexts before what refers to them
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
                           Kind::Overhead,
                           Kind::Jit};
// A graph's launch is one record; without it each of its nodes has one, which costs more.
constexpr Kind kWholeGraphs = Kind::GraphTrace;

// Calls that only ask, made by the thousand: cudaGetDeviceCount, cudaGetLastError,
// cudaPeekAtLastError, cudaSetDevice, cudaGetDevice, cudaStreamIsCapturing; cuCtxGetCurrent,
// cuDevicePrimaryCtxGetState, cuStreamIsCapturing (which the NCCL probe asks, too),
// cuKernelGetAttribute.
constexpr std::uint32_t kRuntimeNoise[] = {3, 10, 11, 16, 17, 317};
constexpr std::uint32_t kDriverNoise[] = {304, 392, 499, 500, 686};

constexpr std::uint32_t kFlushPeriodMs = 250;

pthread_mutex_t gLock = PTHREAD_MUTEX_INITIALIZER;      // of what is below, but for gState
pthread_mutex_t gDecoding = PTHREAD_MUTEX_INITIALIZER;  // never held across a call into a flush
std::atomic<State> gState{State::Idle};
std::atomic<bool> gOthers{false};  // another tool has used CUPTI before Sonde did
std::int32_t gProcess = 0;         // that the capture was started in
void* gLibrary = nullptr;
cupti::Api gCupti;
cupti::Subscriber gSubscriber = nullptr;
Decoder gDecoder;

std::int32_t processId() noexcept {
  return static_cast<std::int32_t>(core::rawSyscall(SYS_getpid));
}

// In the trace, as a fact of the process.
__attribute__((format(printf, 1, 2))) void say(const char* format, ...) noexcept {
  char text[256];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  core::emitProcessText(core::intern("cuda"), core::intern(text));
}

const char* resultText(Status status) noexcept {
  const char* text = nullptr;
  return gCupti.getResultString(status, &text) == Status::Success && text != nullptr ? text
                                                                                     : "an error";
}

std::uint64_t ticksForCupti() noexcept {
  return core::readTicks();
}

// What CUPTI's own clock is, for who comes after Sonde.
std::uint64_t realtime() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

const char* callbackName(Domain domain, std::uint32_t cbid) noexcept {
  const char* name = nullptr;
  return gCupti.getCallbackName(domain, cbid, &name) == Status::Success ? name : nullptr;
}

void countLost(std::uint32_t records) noexcept {
  core::countLoss(wire::Probe::Cuda, wire::RecordKind::Kernel, wire::LossReason::Tracer, records);
}

// Before 12.9 CUPTI crashes without a buffer: where there is none it fills this one, and nobody
// reads it.
alignas(8) std::uint8_t gDiscard[64 * 1024];

bool isDiscard(const std::uint8_t* buffer) noexcept {
  return buffer == gDiscard;
}

void requestBuffer(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords) noexcept {
  *buffer = takeBuffer();
  *size = kBufferBytes;
  if (*buffer == nullptr) {
    *buffer = gDiscard;
    *size = sizeof gDiscard;
  }
  *maxRecords = 0;
}

void completeBuffer(void* context,
                    std::uint32_t stream,
                    std::uint8_t* buffer,
                    std::size_t,
                    std::size_t valid) noexcept {
  const int error = errno;
  if (buffer != nullptr && valid > 0 && !isDiscard(buffer)) {
    pthread_mutex_lock(&gDecoding);
    gDecoder.forgetNames();
    cupti::Record* record = nullptr;
    Status status = Status::Success;
    while ((status = gCupti.getNextRecord(buffer, valid, &record)) == Status::Success)
      gDecoder.decode(record);
    pthread_mutex_unlock(&gDecoding);
    if (status != Status::MaxLimitReached)  // a record that is none: what is behind it is lost
      countLost(1);
  }
  if (isDiscard(buffer))
    countLost(1);  // at least
  else if (buffer != nullptr)
    returnBuffer(buffer);
  std::size_t dropped = 0;
  if (gCupti.getDroppedRecords(context, stream, &dropped) == Status::Success && dropped > 0)
    countLost(static_cast<std::uint32_t>(dropped));
  errno = error;
}

bool wantsNodes() noexcept {
  const char* const graphs = getenv("SONDE_CUDA_GRAPHS");
  return graphs != nullptr && std::strcmp(graphs, "node") == 0;
}

void disableAll() noexcept {
  gCupti.disable(kWholeGraphs);
  for (const Kind kind : kKinds)
    gCupti.disable(kind);
}

void flushAtExit(int, void*) noexcept {
  tellOfCounters();
  flush();
}

// The kinds that this CUPTI and driver have; kernels must be among them.
Status enableKinds() noexcept {
  for (const Kind kind : kKinds) {
    const Status status = gCupti.enable(kind);
    if (status != Status::Success && kind == Kind::ConcurrentKernel)
      return status;
  }
  if (!wantsNodes())
    gCupti.enable(kWholeGraphs);
  for (const std::uint32_t cbid : kRuntimeNoise)
    gCupti.enableRuntimeApi(cbid, 0);
  for (const std::uint32_t cbid : kDriverNoise)
    gCupti.enableDriverApi(cbid, 0);
  return Status::Success;
}

bool prepare() noexcept {
  gLibrary = cupti::openLibrary();
  const char* missing = nullptr;
  if (gLibrary == nullptr) {
    say("not recorded: libcupti is neither beside the CUDA runtime nor in a toolkit: install it "
        "(pip "
        "install nvidia-cuda-cupti)");
    return false;
  }
  if (!cupti::bind(gLibrary, gCupti, missing)) {
    say("not recorded: this libcupti has no %s", missing);
    return false;
  }
  std::uint32_t version = 0;
  if (gCupti.getVersion(&version) != Status::Success || !gDecoder.begin(version, callbackName)) {
    say("not recorded: CUPTI's version %u is not known to this version of Sonde, which reads those "
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
  const Status subscribed = gCupti.subscribe(&gSubscriber, onCallback, nullptr);
  if (subscribed == Status::MultipleSubscribers) {
    say("not recorded: another tool of this process has CUPTI (%s, %d)",
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
    say("not recorded: CUPTI answers %s (%d): is there a working driver, and may this user "
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
  startCounters(gLibrary, gCupti);
  enableCallbacks(gCupti, gSubscriber, true);
  gCupti.flushPeriod(kFlushPeriodMs);
  on_exit(flushAtExit, nullptr);  // runs before what the driver and CUPTI have registered
}

}  // namespace

void start() noexcept {
  const int error = errno;
  pthread_mutex_lock(&gLock);
  if (gState.load(std::memory_order_acquire) == State::Idle) {
    gProcess = processId();
    if (gOthers.load(std::memory_order_acquire))
      say("not recorded: another tool of this process used CUPTI before");
    else
      run();
    if (gState.load(std::memory_order_acquire) == State::Idle)
      gState.store(State::Over, std::memory_order_release);
  }
  pthread_mutex_unlock(&gLock);
  errno = error;
}

void handOver(const char* function) noexcept {
  gOthers.store(true, std::memory_order_release);
  if (gState.load(std::memory_order_acquire) != State::Running || gProcess != processId())
    return;
  const int error = errno;
  pthread_mutex_lock(&gLock);
  if (gState.load(std::memory_order_acquire) == State::Running) {
    stopCounters();
    enableCallbacks(gCupti, gSubscriber, false);
    gCupti.flushAll(0);
    disableAll();
    gCupti.flushAll(cupti::kFlushForced);
    gState.store(State::Over, std::memory_order_release);
    gCupti.unsubscribe(gSubscriber);
    gCupti.registerTimestampCallback(realtime);
    gCupti.setThreadIdType(0);
    gCupti.flushPeriod(0);
    say("not recorded from here on: another tool of this process uses CUPTI (%s)", function);
    core::emitMark(core::intern("CUDA recording ends: another tool uses CUPTI"), wire::Probe::Cuda);
  }
  pthread_mutex_unlock(&gLock);
  errno = error;
}

void flush() noexcept {
  if (gState.load(std::memory_order_acquire) != State::Running || gProcess != processId())
    return;
  if (core::maybeInSignalHandler()) {
    say("some of it is lost: the process ended in a signal handler, with records in CUPTI's "
        "buffers");
    countLost(1);
    return;
  }
  const int error = errno;
  gCupti.flushAll(cupti::kFlushForced);
  errno = error;
}

}  // namespace sonde::preload::cuda
