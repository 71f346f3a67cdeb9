#include "collector/preload/cuda/cuda_callbacks.h"

#include "collector/preload/cuda/counters/cuda_counters.h"
#include "collector/preload/cuda/cuda_calls.h"
#include "collector/preload/cuda/cuda_capture.h"

#include <iterator>

namespace sonde::preload::cuda {
namespace {

using cupti::Domain;

// Goes and Reset discard a context's undelivered records.
enum class Event : std::uint8_t {
  Created,
  Goes,
  Reset,
  Waits,
  StreamGoes,
  CaptureBegins,
  CaptureEnds
};

struct Callback {
  Domain domain;
  std::uint32_t cbid;
  Event event;
};

constexpr Callback kCallbacks[] = {
    {Domain::Resource, cupti::kContextCreated, Event::Created},
    {Domain::Resource, cupti::kContextDestroyStarting, Event::Goes},
    {Domain::Runtime, cupti::kCudaDeviceReset, Event::Reset},
    {Domain::Driver, cupti::kPrimaryContextReset, Event::Reset},
    {Domain::Driver, cupti::kPrimaryContextReset2, Event::Reset},
    {Domain::Runtime, cupti::kCudaMemcpy, Event::Waits},
    {Domain::Runtime, cupti::kCudaMemcpyPtds, Event::Waits},
    {Domain::Runtime, cupti::kCudaStreamSynchronize, Event::Waits},
    {Domain::Runtime, cupti::kCudaStreamSynchronizePtsz, Event::Waits},
    {Domain::Runtime, cupti::kCudaEventSynchronize, Event::Waits},
    {Domain::Runtime, cupti::kCudaDeviceSynchronize, Event::Waits},
    {Domain::Driver, cupti::kContextSynchronize, Event::Waits},
    {Domain::Driver, cupti::kContextSynchronize2, Event::Waits},
    {Domain::Driver, cupti::kEventSynchronize, Event::Waits},
    {Domain::Driver, cupti::kStreamSynchronize, Event::Waits},
    {Domain::Driver, cupti::kStreamSynchronizePtsz, Event::Waits},
    {Domain::Driver, cupti::kMemcpyToHost, Event::Waits},
    {Domain::Driver, cupti::kMemcpyToHostPtds, Event::Waits},
    // The following are for hardware counters only.
    {Domain::Resource, cupti::kStreamDestroyStarting, Event::StreamGoes},
    {Domain::Runtime, cupti::kCudaBeginCapture, Event::CaptureBegins},
    {Domain::Runtime, cupti::kCudaBeginCapturePtsz, Event::CaptureBegins},
    {Domain::Runtime, cupti::kCudaBeginCaptureToGraph, Event::CaptureBegins},
    {Domain::Runtime, cupti::kCudaBeginCaptureToGraphPtsz, Event::CaptureBegins},
    {Domain::Runtime, cupti::kCudaEndCapture, Event::CaptureEnds},
    {Domain::Runtime, cupti::kCudaEndCapturePtsz, Event::CaptureEnds},
    {Domain::Driver, cupti::kBeginCapture, Event::CaptureBegins},
    {Domain::Driver, cupti::kBeginCapturePtsz, Event::CaptureBegins},
    {Domain::Driver, cupti::kBeginCapture2, Event::CaptureBegins},
    {Domain::Driver, cupti::kBeginCapture2Ptsz, Event::CaptureBegins},
    {Domain::Driver, cupti::kBeginCaptureToGraph, Event::CaptureBegins},
    {Domain::Driver, cupti::kBeginCaptureToGraphPtsz, Event::CaptureBegins},
    {Domain::Driver, cupti::kEndCapture, Event::CaptureEnds},
    {Domain::Driver, cupti::kEndCapturePtsz, Event::CaptureEnds},
};
constexpr std::size_t kAlways = 18;

// Any other result means that the stream was not being captured.
bool endsCapture(int result) noexcept {
  constexpr int kCaptureInvalidated = 901;  // cudaError_t and CUresult
  return result == 0 || result == kCaptureInvalidated;
}

// A capture lasts from the entry of the call that begins it, unless that fails, to the exit of the
// call that ends it.
void onCapture(Event event, const cupti::CallbackData& call) noexcept {
  const bool isExit = call.callbackSite != 0;
  const int result = cupti::resultOf(call);
  void* const stream = cupti::streamOf(call);
  if (event == Event::CaptureBegins && !isExit)
    captureBegins(call.context, stream);
  else if (event == Event::CaptureBegins && result == 0)
    captureBegun(stream);
  else if (event == Event::CaptureBegins || (isExit && endsCapture(result)))
    captureEnded(stream);
}

void onEvent(Event event, Domain domain, const void* data) noexcept {
  switch (event) {
    case Event::Created:
      contextComes();
      contextCreated(static_cast<const cupti::ResourceData*>(data)->context);
      break;
    case Event::Goes:
      contextGoes(static_cast<const cupti::ResourceData*>(data)->context);
      flush();
      break;
    case Event::Reset:
      if (static_cast<const cupti::CallbackData*>(data)->callbackSite == 0)
        flush();
      break;
    case Event::Waits:
      onWait(domain, *static_cast<const cupti::CallbackData*>(data));
      break;
    case Event::StreamGoes:
      streamGoes(static_cast<const cupti::ResourceData*>(data)->stream);
      break;
    case Event::CaptureBegins:
    case Event::CaptureEnds:
      onCapture(event, *static_cast<const cupti::CallbackData*>(data));
      break;
  }
}

}  // namespace

void enableCallbacks(const cupti::Api& api, cupti::Subscriber subscriber, bool enable) noexcept {
  if (wantsCallStacks())  // first, because it affects all calls
    enableCallStacks(api, subscriber, enable);
  const std::size_t count = wantsCounters() ? std::size(kCallbacks) : kAlways;
  for (std::size_t at = 0; at < count; ++at)
    api.enableCallback(enable ? 1 : 0, subscriber, kCallbacks[at].domain, kCallbacks[at].cbid);
}

void onCallback(void*, Domain domain, std::uint32_t cbid, const void* data) noexcept {
  if (domain != Domain::Resource && wantsCallStacks() && data != nullptr)
    onCall(domain, *static_cast<const cupti::CallbackData*>(data));
  for (const Callback& callback : kCallbacks) {
    if (callback.domain == domain && callback.cbid == cbid && data != nullptr) {
      onEvent(callback.event, domain, data);
      return;
    }
  }
}

}  // namespace sonde::preload::cuda
