#pragma once
// The simulated devices: contexts, streams, events and their work. Work gets its times when it is
// submitted: a stream runs its operations one after the other, everything else overlaps freely. Any
// thread. One lock guards everything; neither CUPTI's callbacks nor waits happen while it is held.
// Handles are never freed, so that a stale one is recognised.

#include "tests/cudasim/core/activity.h"

#include <cuda.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudasim {

constexpr uint64_t kLaunchLatencyNs = 3'000;
constexpr uint64_t kMemcpyLatencyNs = 1'000;
constexpr uint64_t kBytesPerNs = 20;  // for every copy and set
constexpr uint32_t kDefaultStream = 7;
constexpr uint32_t kFirstStream = 13;
constexpr uint64_t kHeldNs = 3'600'000'000'000;  // of a kernel that waits for the host

}  // namespace cudasim

struct CUfunc_st {
  std::string name;
  uint64_t durationNs = 0;
};

struct CUstream_st {
  CUcontext context = nullptr;
  uint32_t id = 0;
  int priority = 0;
  unsigned flags = 0;
  bool alive = true;
  uint64_t endNs = 0;                        // end of the submitted work
  std::deque<cudasim::Activity> unfinished;  // by end
  CUgraph capture = nullptr;
  bool captureBroken = false;  // by a call that is forbidden during a capture
};

struct CUctx_st {
  uint32_t id = 0;
  uint32_t device = 0;
  bool alive = true;
  bool primary = false;
  int references = 1;
  uint32_t nextStream = cudasim::kFirstStream;
  std::vector<std::unique_ptr<CUstream_st>> streams;  // the first is the default stream
};

struct CUevent_st {
  CUcontext context = nullptr;
  uint32_t id = 0;
  bool alive = true;
  CUstream stream = nullptr;  // null: not recorded
  uint64_t ns = 0;
  uint64_t syncId = 0;
};

namespace cudasim {

// The activity of a kernel, copy or set, wherever it is submitted.
struct Work {
  Activity activity;
  uint64_t durationNs = 0;
};

CUresult initialise();  // cuInit: loads CUDA_INJECTION64_PATH once
bool initialised();
bool driverPresent();  // no CUDASIM_NO_DRIVER
uint32_t deviceCount();

// The calling thread's current context. For the runtime it is its device's primary context, created
// if needed.
CUcontext currentContext();
void setCurrentContext(CUcontext context);
CUcontext runtimeContext();
CUresult setRuntimeDevice(uint32_t device);
uint32_t runtimeDevice();

CUcontext createContext(uint32_t device);
CUresult destroyContext(CUcontext context);  // waits for its work
CUcontext retainPrimary(uint32_t device);
CUresult releasePrimary(uint32_t device);
CUresult resetPrimary(uint32_t device);
bool primaryActive(uint32_t device);

CUresult createStream(CUcontext context, unsigned flags, int priority, CUstream* stream);
CUresult destroyStream(CUstream stream);  // its work continues
// Null and the legacy and per-thread handles mean the context's default stream. Returns null if
// there is no such stream.
CUstream resolve(CUcontext context, CUstream stream);

CUresult createEvent(CUcontext context, CUevent* event);
CUresult recordEvent(CUevent event, CUstream stream);
CUresult waitEvent(CUstream stream, CUevent event);
CUresult synchroniseEvent(CUevent event);
CUresult queryEvent(CUevent event);
CUresult elapsed(CUevent start, CUevent end, float* ms);

// Submits to the stream, or to the graph that it captures.
CUresult submit(CUstream stream, Work work);
CUresult synchroniseStream(CUstream stream);
// Submits and waits, as a synchronous copy does; CUPTI sees no synchronisation.
CUresult submitAndWait(CUstream stream, const Work& work);
CUresult queryStream(CUstream stream);
CUresult synchroniseContext(CUcontext context);
void drain(CUcontext context);  // waits for its work, unseen by CUPTI

// Nodes by index, each with the nodes that it waits for.
struct GraphWork {
  uint32_t graph = 0;
  std::vector<Work> nodes;
  std::vector<std::vector<size_t>> dependencies;
};
CUresult launchGraph(CUstream stream, const GraphWork& graph);

// An event on the host, in the running API call, between two times of nowNs(). Writes its truth,
// and requires a record if CUPTI wants one. Fills in device and context.
void happenedOnHost(CUcontext context, Activity activity, uint64_t startNs, uint64_t endNs);

// Passes finished work to the tracer and the truth file.
void retire();
// The unfinished traced activities, without times; their records are no longer expected.
std::vector<Activity> takeUnfinished();
std::vector<CUcontext> liveContexts();

// Ends kernels that wait for the host.
void releaseHeld();

// Compiles if the thread has called cudasimCompileAtLaunch().
void compileIfAsked();

uint32_t nextGraphId();

}  // namespace cudasim
