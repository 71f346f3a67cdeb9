#pragma once
// The shared state of device.h's functions. Internal to core/.

#include "tests/cudasim/core/device.h"
#include "tests/cudasim/core/tracer.h"

#include <mutex>

namespace cudasim {

struct World {
  std::mutex mutex;
  // Held from taking finished work to delivering it, so that a flush misses nothing.
  std::mutex retiring;
  std::deque<std::unique_ptr<CUctx_st>> contexts;
  std::deque<std::unique_ptr<CUevent_st>> events;
  std::vector<CUcontext> primaries;
  uint32_t nextContext = 1;
  uint32_t nextEvent = 1;
  uint64_t nextEventSync = 1;
  uint32_t nextGraph = 1;
};

World& world();

// Requires: the world's lock. Completes and queues one operation; it begins at `earliestNs` or
// later.
uint64_t enqueue(CUstream stream, Activity activity, uint64_t earliestNs, uint64_t durationNs);
// Requires: the world's lock.
bool wants(uint32_t kind, CUcontext context);
// These emit CUPTI's records for the existing objects.
void emitDevices();
void emitContext(CUcontext context);
void emitStreams(CUcontext context);

}  // namespace cudasim
