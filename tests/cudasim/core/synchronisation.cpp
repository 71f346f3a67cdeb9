// Events, and waiting for streams, events and contexts.
#include "tests/cudasim/core/call.h"
#include "tests/cudasim/core/clock.h"
#include "tests/cudasim/core/truth.h"
#include "tests/cudasim/core/world.h"

#include <cupti.h>

#include <algorithm>

namespace cudasim {
namespace {

Activity synchronisation(CUpti_ActivitySynchronizationType type) {
  Activity activity;
  activity.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  activity.type = static_cast<uint8_t>(type);
  activity.stream = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  activity.event = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  return activity;
}

uint64_t endOf(CUcontext context) {
  const std::lock_guard lock(world().mutex);
  uint64_t end = 0;
  for (const auto& stream : context->streams) {
    end = std::max(end, stream->endNs);
  }
  return end;
}

// Whether the wait is for a context while one of its streams is being captured.
bool breaksCaptures(CUcontext context) {
  const std::lock_guard lock(world().mutex);
  bool breaks = false;
  for (const auto& stream : context->streams) {
    const bool isActive = stream->capture != nullptr && !stream->captureBroken;
    stream->captureBroken = stream->captureBroken || isActive;
    breaks = breaks || isActive;
  }
  return breaks;
}

uint64_t endOf(CUstream stream) {
  const std::lock_guard lock(world().mutex);
  return stream->endNs;
}

uint64_t endOf(CUevent event) {
  const std::lock_guard lock(world().mutex);
  return event->ns;
}

// Ends may move earlier: a kernel that waits for the host is released.
template <class Awaited>
void sleepUntilDone(Awaited awaited) {
  constexpr uint64_t kMomentNs = 5'000'000;
  for (uint64_t now = nowNs(), end = 0; now < (end = endOf(awaited)); now = nowNs()) {
    sleepUntil(std::min(end, now + kMomentNs));
  }
}

// Waits for the device, then reports it.
template <class Awaited>
void waitFor(Awaited awaited, CUcontext context, const Activity& activity) {
  const uint64_t begin = nowNs();
  sleepUntilDone(awaited);
  happenedOnHost(context, activity, begin, nowNs());
  retire();
  flushTruth();
}

}  // namespace

CUresult createEvent(CUcontext context, CUevent* event) {
  if (!context || !context->alive) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  const std::lock_guard lock(world().mutex);
  world().events.push_back(std::make_unique<CUevent_st>());
  *event = world().events.back().get();
  (*event)->context = context;
  (*event)->id = world().nextEvent++;
  return CUDA_SUCCESS;
}

CUresult recordEvent(CUevent event, CUstream stream) {
  const std::lock_guard lock(world().mutex);
  Activity activity;
  activity.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  activity.event = event->id;
  activity.eventSync = world().nextEventSync++;
  activity.traced = wants(activity.kind, stream->context);
  event->stream = stream;
  event->syncId = activity.eventSync;
  event->ns = enqueue(stream, activity, std::max(nowNs() + kLaunchLatencyNs, stream->endNs), 0);
  stream->endNs = event->ns;
  return CUDA_SUCCESS;
}

CUresult waitEvent(CUstream stream, CUevent event) {
  const uint64_t begin = nowNs();
  Activity activity = synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
  {
    const std::lock_guard lock(world().mutex);
    stream->endNs = std::max(stream->endNs, event->ns);
    activity.stream = stream->id;
    activity.event = event->id;
    activity.eventSync = event->syncId;
  }
  happenedOnHost(stream->context, activity, begin, nowNs());
  return CUDA_SUCCESS;
}

CUresult synchroniseEvent(CUevent event) {
  Activity activity = synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
  {
    const std::lock_guard lock(world().mutex);
    activity.event = event->id;
    activity.eventSync = event->syncId;
  }
  waitFor(event, event->context, activity);
  return CUDA_SUCCESS;
}

CUresult queryEvent(CUevent event) {
  const std::lock_guard lock(world().mutex);
  return event->ns <= nowNs() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult elapsed(CUevent start, CUevent end, float* ms) {
  const std::lock_guard lock(world().mutex);
  if (!start->stream || !end->stream) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (std::max(start->ns, end->ns) > nowNs()) {
    return CUDA_ERROR_NOT_READY;
  }
  *ms = static_cast<float>(static_cast<double>(static_cast<int64_t>(end->ns - start->ns)) / 1e6);
  return CUDA_SUCCESS;
}

CUresult synchroniseStream(CUstream stream) {
  Activity activity = synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
  activity.stream = stream->id;
  waitFor(stream, stream->context, activity);
  return CUDA_SUCCESS;
}

CUresult submitAndWait(CUstream stream, const Work& work) {
  const CUresult result = submit(stream, work);
  sleepUntilDone(stream);
  retire();
  return result;
}

CUresult queryStream(CUstream stream) {
  const std::lock_guard lock(world().mutex);
  return stream->endNs <= nowNs() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult synchroniseContext(CUcontext context) {
  if (breaksCaptures(context)) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  waitFor(
      context, context, synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE));
  return CUDA_SUCCESS;
}

void drain(CUcontext context) {
  sleepUntilDone(context);
  retire();
}

}  // namespace cudasim
