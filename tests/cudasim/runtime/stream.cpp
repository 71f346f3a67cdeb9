// The runtime's functions for streams and events.
#include "tests/cudasim/core/graph.h"
#include "tests/cudasim/runtime/runtime_call.h"

using namespace cudasim;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* pStream) {
  RUNTIME_CALL(cudaStreamCreate, v3020, pStream);
  return call([&] { return createStream(runtimeContext(), 0, 0, pStream); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* pStream, unsigned int flags) {
  RUNTIME_CALL(cudaStreamCreateWithFlags, v5000, pStream, flags);
  return call([&] { return createStream(runtimeContext(), flags, 0, pStream); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* pStream, unsigned int flags, int priority) {
  RUNTIME_CALL(cudaStreamCreateWithPriority, v5050, pStream, flags, priority);
  return call([&] { return createStream(runtimeContext(), flags, priority, pStream); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  RUNTIME_CALL(cudaStreamDestroy, v5050, stream);
  return call([&] { return destroyStream(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  RUNTIME_CALL(cudaStreamSynchronize, v3020, stream);
  return call.on(stream, synchroniseStream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  RUNTIME_CALL(cudaStreamQuery, v3020, stream);
  return call.on(stream, queryStream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  RUNTIME_CALL(cudaStreamWaitEvent, v3020, stream, event, flags);
  return call.on(stream, [&](CUstream on) { return waitEvent(on, event); });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  RUNTIME_CALL(cudaStreamBeginCapture, v10000, stream, mode);
  return call.on(stream, beginCapture);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* pGraph) {
  RUNTIME_CALL(cudaStreamEndCapture, v10000, stream, pGraph);
  return call.on(stream, [&](CUstream on) { return endCapture(on, pGraph); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  RUNTIME_CALL(cudaEventCreate, v3020, event);
  return call([&] { return createEvent(runtimeContext(), event); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  RUNTIME_CALL(cudaEventCreateWithFlags, v3020, event, flags);
  return call([&] { return createEvent(runtimeContext(), event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  RUNTIME_CALL(cudaEventRecord, v3020, event, stream);
  return call.on(stream, [&](CUstream on) { return recordEvent(event, on); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  RUNTIME_CALL(cudaEventSynchronize, v3020, event);
  return call([&] { return synchroniseEvent(event); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  RUNTIME_CALL(cudaEventQuery, v3020, event);
  return call([&] { return queryEvent(event); });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  RUNTIME_CALL(cudaEventElapsedTime, v12080, ms, start, end);
  return call([&] { return elapsed(start, end, ms); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  RUNTIME_CALL(cudaEventDestroy, v3020, event);
  return call([&] {
    event->alive = false;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
