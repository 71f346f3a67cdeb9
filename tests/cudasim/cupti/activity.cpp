// CUPTI's activity API.
#include "tests/cudasim/core/clock.h"
#include "tests/cudasim/core/device.h"
#include "tests/cudasim/core/graph.h"
#include "tests/cudasim/core/world.h"
#include "tests/cudasim/cupti/client.h"
#include "tests/cudasim/cupti/recorder.h"
#include "tests/cudasim/cupti/records.h"

#include <algorithm>
#include <cstdlib>

using namespace cudasim;

namespace cudasim {

CUptiResult driverResult() {
  return driverPresent() ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

}  // namespace cudasim

namespace {

#if CUDASIM_CUDA_MAJOR >= 13
constexpr uint32_t kLastKind = CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS;
#else
constexpr uint32_t kLastKind = CUPTI_ACTIVITY_KIND_JIT;
#endif

CUptiResult checkKind(uint32_t kind) {
  if (kind == 0 || kind > kLastKind) {
    return CUPTI_ERROR_INVALID_KIND;
  }
  return driverResult();
}

CUptiResult enable(uint32_t kind, bool on) {
  const CUptiResult result = checkKind(kind);
  if (result == CUPTI_SUCCESS) {
    client().enable(kind, on);
  }
  return result;
}

CUptiResult enable(CUcontext context, uint32_t kind, bool on) {
  const CUptiResult result = checkKind(kind);
  if (result == CUPTI_SUCCESS) {
    client().enable(context, kind, on);
  }
  return result;
}

CUptiResult enableCall(uint32_t domain, uint32_t cbid, bool on) {
  if (cbid >= Client::kCallbacks) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  client().enableCall(domain, cbid, on);
  return driverResult();
}

// The default values, by CUpti_ActivityAttribute; what is larger than 1 is a size_t.
size_t gAttributes[] = {3'200'000, 8'388'608, 250, 25'000, 250, 0, 3, 3, 0, 1, 16'777'216};

size_t attributeSize(uint32_t attribute) {
  return attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER ||
                 attribute == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED ||
                 attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER
             ? sizeof(uint8_t)
             : sizeof(size_t);
}

CUptiResult checkAttribute(uint32_t attribute, const size_t* size, const void* value) {
  if (!size || !value || attribute >= std::size(gAttributes)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return *size < attributeSize(attribute) ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT
                                          : CUPTI_SUCCESS;
}

}  // namespace

extern "C" {

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return enable(kind, true);
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return enable(kind, false);
}

CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  const CUptiResult result = enable(kind, true);
  if (result != CUPTI_SUCCESS || !recorder::hasClient() || !initialised()) {
    return result;
  }
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE) {
    emitDevices();
  }
  for (const CUcontext context : liveContexts()) {
    if (kind == CUPTI_ACTIVITY_KIND_CONTEXT) {
      emitContext(context);
    } else if (kind == CUPTI_ACTIVITY_KIND_STREAM) {
      emitStreams(context);
    }
  }
  return result;
}

CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind) {
  return enable(context, kind, true);
}
CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind) {
  return enable(context, kind, false);
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t on) {
  return enableCall(CUPTI_CB_DOMAIN_DRIVER_API, cbid, on);
}
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t on) {
  return enableCall(CUPTI_CB_DOMAIN_RUNTIME_API, cbid, on);
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  if (!request || !complete) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  client();
  recorder::registerClient(request, complete);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  if (!recorder::hasClient() || recorder::inClient()) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  retire();
  if (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) {
    client().finished(takeUnfinished());
  }
  recorder::deliver(true);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlush(CUcontext, uint32_t, uint32_t flag) {
  return cuptiActivityFlushAll(flag);
}

CUptiResult cuptiActivityFlushPeriod(uint32_t time) {
  recorder::setPeriodMs(time);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer,
                                       size_t validBufferSizeBytes,
                                       CUpti_Activity** record) {
  if (!buffer || !record) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  auto* next = buffer;
  if (*record) {
    next = reinterpret_cast<uint8_t*>(*record) + recordSize((*record)->kind);
  }
  const auto offset = static_cast<size_t>(next - buffer);
  if (offset >= validBufferSizeBytes) {
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  }
  auto* found = reinterpret_cast<CUpti_Activity*>(next);
  const size_t size = recordSize(found->kind);
  if (size == 0 || size > validBufferSizeBytes - offset) {
    return CUPTI_ERROR_INVALID_KIND;
  }
  *record = found;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  if (!dropped) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *dropped = recorder::takeDropped();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attr,
                                      size_t* valueSize,
                                      void* value) {
  const CUptiResult result = checkAttribute(attr, valueSize, value);
  if (result == CUPTI_SUCCESS) {
    *valueSize = attributeSize(attr);
    if (*valueSize == sizeof(uint8_t)) {
      *static_cast<uint8_t*>(value) = static_cast<uint8_t>(gAttributes[attr]);
    } else {
      *static_cast<size_t*>(value) = gAttributes[attr];
    }
  }
  return result;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attr,
                                      size_t* valueSize,
                                      void* value) {
  const CUptiResult result = checkAttribute(attr, valueSize, value);
  if (result == CUPTI_SUCCESS) {
    gAttributes[attr] = attributeSize(attr) == sizeof(uint8_t) ? *static_cast<uint8_t*>(value)
                                                               : *static_cast<size_t*>(value);
  }
  return result;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp) {
  if (!funcTimestamp) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  client();
  retire();
  setTickSource(funcTimestamp);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  if (!timestamp) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *timestamp = ticksNow();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  client().systemThreadIds = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  *type = client().systemThreadIds ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                                   : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(
    CUpti_ActivityUnifiedMemoryCounterConfig* config, uint32_t count) {
  if (std::getenv("CUDASIM_NO_UNIFIED_MEMORY")) {
    return CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE;
  }
  if (!initialised()) {
    return CUPTI_ERROR_NOT_INITIALIZED;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (config[i].kind == 0 || config[i].kind >= Client::kCounters) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    client().enableCounter(config[i].kind, config[i].enable != 0);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   uint64_t id) {
  if (kind == CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
      kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  pushExternalId(kind, id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  uint64_t* lastId) {
  if (kind == CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
      kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  uint64_t id = 0;
  if (!popExternalId(kind, &id)) {
    return CUPTI_ERROR_QUEUE_EMPTY;
  }
  if (lastId) {
    *lastId = id;
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableLaunchAttributes(uint8_t) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableAllocationSource(uint8_t) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t* contextId) {
  if (!context || !contextId) {
    return CUPTI_ERROR_INVALID_CONTEXT;
  }
  *contextId = context->id;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* deviceId) {
  if (!context || !deviceId) {
    return CUPTI_ERROR_INVALID_CONTEXT;
  }
  *deviceId = context->device;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t, uint32_t* streamId) {
  const CUstream found = resolve(context, stream);
  if (!found || !streamId) {
    return CUPTI_ERROR_INVALID_STREAM;
  }
  *streamId = found->id;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t* streamId) {
  return cuptiGetStreamIdEx(context, stream, 0, streamId);
}

CUptiResult cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t* pId) {
  *pId = graphExec->work.graph;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* pId) {
  *pId = graph->id;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* nodeId) {
  *nodeId = cudasim::nodeId(node->graph->id, node->index);
  return CUPTI_SUCCESS;
}

}  // extern "C"
