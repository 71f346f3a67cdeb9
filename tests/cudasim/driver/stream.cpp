// The driver's functions for streams and events.
#include "tests/cudasim/core/graph.h"
#include "tests/cudasim/driver/driver_call.h"

using namespace cudasim;

extern "C" {

CUresult cuStreamCreate(CUstream* phStream, unsigned int flags) {
  DRIVER_CALL(cuStreamCreate, phStream, flags);
  return call([&] { return createStream(currentContext(), flags, 0, phStream); });
}

CUresult cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) {
  DRIVER_CALL(cuStreamCreateWithPriority, phStream, flags, priority);
  return call([&] { return createStream(currentContext(), flags, priority, phStream); });
}

CUresult cuStreamDestroy_v2(CUstream hStream) {
  DRIVER_CALL(cuStreamDestroy_v2, hStream);
  return call([&] { return destroyStream(hStream); });
}

CUresult cuStreamSynchronize(CUstream hStream) {
  DRIVER_CALL(cuStreamSynchronize, hStream);
  return call.on(hStream, synchroniseStream);
}

CUresult cuStreamQuery(CUstream hStream) {
  DRIVER_CALL(cuStreamQuery, hStream);
  return call.on(hStream, queryStream);
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
  DRIVER_CALL(cuStreamIsCapturing, hStream, captureStatus);
  return call.on(hStream, [&](CUstream stream) {
    *captureStatus = cudasim::captureStatus(stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int flags) {
  DRIVER_CALL(cuStreamWaitEvent, hStream, hEvent, flags);
  return call.on(hStream, [&](CUstream stream) { return waitEvent(stream, hEvent); });
}

CUresult cuEventCreate(CUevent* phEvent, unsigned int flags) {
  DRIVER_CALL(cuEventCreate, phEvent, flags);
  return call([&] { return createEvent(currentContext(), phEvent); });
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
  DRIVER_CALL(cuEventRecord, hEvent, hStream);
  return call.on(hStream, [&](CUstream stream) { return recordEvent(hEvent, stream); });
}

CUresult cuEventSynchronize(CUevent hEvent) {
  DRIVER_CALL(cuEventSynchronize, hEvent);
  return call([&] { return synchroniseEvent(hEvent); });
}

CUresult cuEventQuery(CUevent hEvent) {
  DRIVER_CALL(cuEventQuery, hEvent);
  return call([&] { return queryEvent(hEvent); });
}

CUresult cuEventElapsedTime_v2(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  DRIVER_CALL(cuEventElapsedTime_v2, pMilliseconds, hStart, hEnd);
  return call([&] { return elapsed(hStart, hEnd, pMilliseconds); });
}

CUresult cuEventDestroy_v2(CUevent hEvent) {
  DRIVER_CALL(cuEventDestroy_v2, hEvent);
  return call([&] {
    hEvent->alive = false;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
