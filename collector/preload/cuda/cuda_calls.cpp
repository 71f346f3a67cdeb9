#include "collector/preload/cuda/cuda_calls.h"

#include "collector/core/emit.h"
#include "collector/core/open_calls.h"
#include "collector/core/stack_events.h"
#include "collector/preload/cuda/activity/cuda_words.h"

namespace sonde::preload::cuda {
namespace {

using cupti::Domain;

// cudaGetDeviceCount, cudaGetLastError, cudaPeekAtLastError, cudaSetDevice, cudaGetDevice,
// cudaStreamIsCapturing; cuCtxGetCurrent, cuDevicePrimaryCtxGetState, cuStreamIsCapturing (the NCCL
// probe calls it, too), cuKernelGetAttribute; cuKernelGetName, which the runtime calls for CUPTI at
// each launch.
constexpr std::uint32_t kRuntimeNoise[] = {3, 10, 11, 16, 17, 317};
constexpr std::uint32_t kDriverNoise[] = {304, 392, 499, 500, 686, 719};

// The outermost call that the thread is in.
struct Outermost {
  Domain domain;
  std::uint32_t correlation;  // 0: in no call
  std::uint64_t ticks;
};
// The wait that the thread is in, by domain, because runtime calls call the driver.
struct Wait {
  std::uint32_t correlation;
  core::OpenCall open;
};
constinit __thread Wait tWaits[2] __attribute__((tls_model("initial-exec"))) = {};

// The parameters lie in the frame of CUDA's function. A call without parameters has only this
// frame; CUPTI's frames are above it.
const void* frameOf(const cupti::CallbackData& call, const char* here) noexcept {
  constexpr std::ptrdiff_t kFramesOfCupti = 2048;
  const auto* parameters = static_cast<const char*>(call.functionParams);
  return parameters > here ? parameters : here + kFramesOfCupti;
}

constinit __thread Outermost tOutermost __attribute__((tls_model("initial-exec"))) = {};

}  // namespace

void leaveOutNoise(const cupti::Api& api) noexcept {
  for (const std::uint32_t cbid : kRuntimeNoise)
    api.enableRuntimeApi(cbid, 0);
  for (const std::uint32_t cbid : kDriverNoise)
    api.enableDriverApi(cbid, 0);
}

bool wantsCallStacks() noexcept {
  return core::takesStacksAt(wire::StackRule::kAtCuda);
}

void enableCallStacks(const cupti::Api& api, cupti::Subscriber subscriber, bool enable) noexcept {
  for (const Domain domain : {Domain::Runtime, Domain::Driver})
    api.enableDomain(enable ? 1 : 0, subscriber, domain);
  for (const std::uint32_t cbid : kRuntimeNoise)
    api.enableCallback(0, subscriber, Domain::Runtime, cbid);
  for (const std::uint32_t cbid : kDriverNoise)
    api.enableCallback(0, subscriber, Domain::Driver, cbid);
}

// The runtime calls the driver, but not the reverse, and neither calls itself. So a runtime call
// that begins inside another call, or a driver call inside another driver call, means that the
// earlier call had no end.
void onCall(Domain domain, const cupti::CallbackData& call) noexcept {
  Outermost& outermost = tOutermost;
  if (!core::enabled(wire::Probe::Stack)) {  // outside of a capture
    outermost.correlation = 0;
  } else if (call.callbackSite == 0) {
    const bool isInside = outermost.correlation != 0 &&
                          (outermost.correlation == call.correlationId ||
                           (domain == Domain::Driver && outermost.domain == Domain::Runtime));
    if (!isInside)
      outermost = {domain, call.correlationId, core::ticks()};
  } else if (outermost.correlation == call.correlationId && outermost.domain == domain) {
    outermost.correlation = 0;
    core::takeCallStack(outermost.ticks, call.correlationId);
  }
}

void onWait(Domain domain, const cupti::CallbackData& call) noexcept {
  Wait& wait = tWaits[domain == Domain::Runtime ? 0 : 1];
  if (call.callbackSite == 0 && core::enabled(wire::Probe::Cuda)) {
    wire::Call record{};
    record.header.subject = internFunction(call.functionName);
    record.header.detail = static_cast<std::uint8_t>(wire::SliceKind::Api);
    record.beginTicks = core::ticks();
    record.probe = wire::Probe::Cuda;
    const char* const here = static_cast<const char*>(__builtin_frame_address(0));
    wait = {call.correlationId,
            core::openCall(record, wire::RecordKind::Call, frameOf(call, here))};
  } else if (call.callbackSite != 0 && wait.correlation == call.correlationId) {
    core::closeCall(wait.open);
    wait = {};
  }
}

}  // namespace sonde::preload::cuda
