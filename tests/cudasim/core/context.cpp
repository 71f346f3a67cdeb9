// Contexts and streams.
#include "tests/cudasim/core/call.h"
#include "tests/cudasim/core/clock.h"
#include "tests/cudasim/core/truth.h"
#include "tests/cudasim/core/world.h"

#include <cupti.h>

namespace cudasim {
namespace {

thread_local CUcontext gContext = nullptr;
thread_local uint32_t gDevice = 0;

void notify(uint32_t cbid, CUcontext context, CUstream stream) {
  if (Tracer* client = tracer()) {
    client->resource(cbid, context, stream);
  }
}

CUstream addStream(CUcontext context, uint32_t id, unsigned flags, int priority) {
  auto stream = std::make_unique<CUstream_st>();
  stream->context = context;
  stream->id = id;
  stream->flags = flags;
  stream->priority = priority;
  context->streams.push_back(std::move(stream));
  return context->streams.back().get();
}

void emitStream(CUstream stream) {
  Activity activity;
  activity.kind = CUPTI_ACTIVITY_KIND_STREAM;
  activity.stream = stream->id;
  activity.value = static_cast<uint32_t>(stream->priority);
  activity.type =
      static_cast<uint8_t>(stream->id == kDefaultStream ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL
                           : stream->flags ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
                                           : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT);
  const uint64_t now = nowNs();
  happenedOnHost(stream->context, activity, now, now);
}

}  // namespace

void emitDevices() {
  for (uint32_t device = 0; device < deviceCount(); ++device) {
    Activity activity;
    activity.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    activity.device = device;
    activity.value = 90;
    const uint64_t now = nowNs();
    happenedOnHost(nullptr, activity, now, now);
  }
}

void emitContext(CUcontext context) {
  Activity activity;
  activity.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  activity.stream = kDefaultStream;
  const uint64_t now = nowNs();
  happenedOnHost(context, activity, now, now);
}

void emitStreams(CUcontext context) {
  std::vector<CUstream> live;
  {
    const std::lock_guard lock(world().mutex);
    for (const auto& stream : context->streams) {
      if (stream->alive) {
        live.push_back(stream.get());
      }
    }
  }
  for (const CUstream stream : live) {
    emitStream(stream);
  }
}

CUcontext currentContext() {
  return gContext;
}

void setCurrentContext(CUcontext context) {
  gContext = context;
}

uint32_t runtimeDevice() {
  return gContext && gContext->alive ? gContext->device : gDevice;
}

CUcontext runtimeContext() {
  if (!gContext || !gContext->alive) {
    gContext = retainPrimary(gDevice);
  }
  return gContext;
}

CUresult setRuntimeDevice(uint32_t device) {
  if (device >= deviceCount()) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  gDevice = device;
  gContext = retainPrimary(device);
  return CUDA_SUCCESS;
}

CUcontext createContext(uint32_t device) {
  CUcontext context = nullptr;
  {
    const std::lock_guard lock(world().mutex);
    world().contexts.push_back(std::make_unique<CUctx_st>());
    context = world().contexts.back().get();
    context->id = world().nextContext++;
    context->device = device;
    addStream(context, kDefaultStream, 0, 0);
  }
  emitContext(context);
  emitStream(context->streams.front().get());
  notify(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context, nullptr);
  return context;
}

CUresult destroyContext(CUcontext context) {
  if (!context || !context->alive) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  notify(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context, nullptr);
  drain(context);
  {
    const std::lock_guard lock(world().mutex);
    context->alive = false;
  }
  if (Tracer* client = tracer()) {
    client->contextGone(context->id);
  }
  flushTruth();
  if (gContext == context) {
    gContext = nullptr;
  }
  return CUDA_SUCCESS;
}

CUcontext retainPrimary(uint32_t device) {
  {
    const std::lock_guard lock(world().mutex);
    if (const CUcontext context = world().primaries[device]) {
      ++context->references;
      return context;
    }
  }
  const CUcontext context = createContext(device);
  context->primary = true;
  const std::lock_guard lock(world().mutex);
  return world().primaries[device] = context;
}

bool primaryActive(uint32_t device) {
  const std::lock_guard lock(world().mutex);
  return world().primaries[device] != nullptr;
}

CUresult releasePrimary(uint32_t device) {
  {
    const std::lock_guard lock(world().mutex);
    const CUcontext context = world().primaries[device];
    if (!context) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (--context->references > 0) {
      return CUDA_SUCCESS;
    }
  }
  return resetPrimary(device);
}

CUresult resetPrimary(uint32_t device) {
  CUcontext context = nullptr;
  {
    const std::lock_guard lock(world().mutex);
    context = std::exchange(world().primaries[device], nullptr);
  }
  return context ? destroyContext(context) : CUDA_SUCCESS;
}

std::vector<CUcontext> liveContexts() {
  const std::lock_guard lock(world().mutex);
  std::vector<CUcontext> live;
  for (const auto& context : world().contexts) {
    if (context->alive) {
      live.push_back(context.get());
    }
  }
  return live;
}

CUresult createStream(CUcontext context, unsigned flags, int priority, CUstream* stream) {
  if (!context || !context->alive) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  {
    const std::lock_guard lock(world().mutex);
    *stream = addStream(context, context->nextStream++, flags, priority);
  }
  emitStream(*stream);
  notify(CUPTI_CBID_RESOURCE_STREAM_CREATED, context, *stream);
  return CUDA_SUCCESS;
}

CUresult destroyStream(CUstream stream) {
  if (!stream || !stream->alive || stream->id == kDefaultStream) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  notify(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, stream->context, stream);
  const std::lock_guard lock(world().mutex);
  stream->alive = false;
  stream->capture = nullptr;
  return CUDA_SUCCESS;
}

CUstream resolve(CUcontext context, CUstream stream) {
  if (!stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD) {
    return context && context->alive ? context->streams.front().get() : nullptr;
  }
  return stream->alive && stream->context->alive ? stream : nullptr;
}

}  // namespace cudasim
