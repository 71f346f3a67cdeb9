#include "tests/cudasim/core/device.h"

#include "tests/cudasim/core/call.h"
#include "tests/cudasim/core/clock.h"
#include "tests/cudasim/core/graph.h"
#include "tests/cudasim/core/kernel_watch.h"
#include "tests/cudasim/core/truth.h"
#include "tests/cudasim/core/world.h"

#include <cupti.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace cudasim {
namespace {

constexpr uint64_t kRetireEvery = 4096;  // submissions: a program may never synchronise

enum class Start { kNot, kUnderWay, kDone };
std::atomic<Start> gStart{Start::kNot};
std::mutex gStarting;
thread_local bool gInjecting = false;

// Loads the injected library, as the driver does at the first cuInit.
void inject() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (!path || !*path) {
    return;
  }
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "cudasim: %s\n", dlerror());
    return;
  }
  if (void* function = dlsym(library, "InitializeInjection")) {
    reinterpret_cast<int (*)()>(function)();
  }
}

__attribute__((destructor)) void finish() {
  if (gStart == Start::kDone) {
    retire();
    for (const CUcontext context : liveContexts()) {
      for (const auto& stream : context->streams) {
        for (Activity& activity : stream->unfinished) {
          activity.start = toTicks(activity.start);
          activity.end = toTicks(activity.end);
          writeTruth(activity);
          if (activity.traced && !activity.forced) {
            writeLoss("lost-at-exit", activity);
          }
        }
      }
    }
  }
  if (Tracer* client = tracer()) {
    client->processEnds();
  }
  flushTruth();
}

// Takes activities that have finished by `now` from a stream.
void takeFinished(CUstream stream, uint64_t now, std::vector<Activity>* into) {
  while (!stream->unfinished.empty() && stream->unfinished.front().end <= now) {
    into->push_back(stream->unfinished.front());
    stream->unfinished.pop_front();
  }
}

}  // namespace

World& world() {
  static auto* instance = new World;  // used until the process has ended
  return *instance;
}

std::atomic<Tracer*>& tracer() {
  static std::atomic<Tracer*> instance{nullptr};
  return instance;
}

bool driverPresent() {
  static const bool present = !std::getenv("CUDASIM_NO_DRIVER");
  return present;
}

bool initialised() {
  return gStart == Start::kDone && driverPresent();
}

uint32_t deviceCount() {
  static const uint32_t count = [] {
    const char* text = std::getenv("CUDASIM_DEVICES");
    return text ? static_cast<uint32_t>(std::atoi(text)) : 2U;
  }();
  return driverPresent() ? count : 0;
}

CUresult initialise() {
  const CUresult result = deviceCount() ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
  if (gStart == Start::kDone || gInjecting) {
    return result;
  }
  const std::lock_guard lock(gStarting);
  if (gStart == Start::kDone) {
    return result;
  }
  {
    const std::lock_guard state(world().mutex);
    world().primaries.assign(deviceCount(), nullptr);
  }
  gInjecting = true;
  inject();
  gInjecting = false;
  gStart = Start::kDone;
  if (Tracer* client = tracer()) {
    client->resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, nullptr, nullptr);
  }
  emitDevices();
  return result;
}

bool wants(uint32_t kind, CUcontext context) {
  Tracer* client = tracer();
  return client && client->wants(kind, context);
}

uint64_t enqueue(CUstream stream, Activity activity, uint64_t earliestNs, uint64_t durationNs) {
  activity.context = stream->context->id;
  activity.device = stream->context->device;
  activity.stream = stream->id;
  activity.correlation = currentCorrelation();
  activity.start = earliestNs;
  activity.end = earliestNs + durationNs;
  activity.ranNs = durationNs;
  tellWatches(activity);
  auto& queue = stream->unfinished;
  const auto place = std::upper_bound(
      queue.begin(), queue.end(), activity.end, [](uint64_t end, const Activity& other) {
        return end < other.end;
      });
  queue.insert(place, activity);
  return activity.end;
}

CUresult submit(CUstream stream, Work work) {
  static std::atomic<uint64_t> submitted{0};
  {
    const std::lock_guard lock(world().mutex);
    if (stream->capture) {
      capture(stream, work);
      return CUDA_SUCCESS;
    }
    work.activity.traced = wants(work.activity.kind, stream->context);
    const uint64_t earliest = std::max(nowNs() + kLaunchLatencyNs, stream->endNs);
    stream->endNs = enqueue(stream, work.activity, earliest, work.durationNs);
  }
  if (++submitted % kRetireEvery == 0) {
    retire();
  }
  return CUDA_SUCCESS;
}

CUresult launchGraph(CUstream stream, const GraphWork& graph) {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  const bool whole = wants(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, stream->context);
  const uint64_t begin = std::max(nowNs() + kLaunchLatencyNs, stream->endNs);
  uint64_t end = begin;
  std::vector<uint64_t> ends;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    Activity activity = graph.nodes[i].activity;
    activity.traced = !whole && wants(activity.kind, stream->context);
    uint64_t earliest = begin;
    for (const size_t other : graph.dependencies[i]) {
      earliest = std::max(earliest, ends[other]);
    }
    ends.push_back(enqueue(stream, activity, earliest, graph.nodes[i].durationNs));
    end = std::max(end, ends.back());
  }
  Activity activity;
  activity.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  activity.graph = graph.graph;
  activity.traced = whole;
  stream->endNs = enqueue(stream, activity, begin, end - begin);
  return CUDA_SUCCESS;
}

void happenedOnHost(CUcontext context, Activity activity, uint64_t startNs, uint64_t endNs) {
  activity.correlation = activity.correlation ? activity.correlation : currentCorrelation();
  if (context) {
    activity.context = context->id;
    activity.device = context->device;
  }
  {
    const std::lock_guard lock(world().mutex);
    activity.traced = wants(activity.kind, context);
  }
  if (activity.traced && activity.kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) {
    activity.traced = tracer().load()->wantsCounter(activity.type);
  }
  activity.start = toTicks(startNs);
  activity.end = toTicks(endNs);
  writeTruth(activity);
  Tracer* client = tracer();
  if (client && activity.traced) {
    client->happened(activity);
  }
}

void retire() {
  World& w = world();
  const std::lock_guard retiring(w.retiring);
  std::vector<Activity> done;
  {
    const std::lock_guard lock(w.mutex);
    const uint64_t now = nowNs();
    for (const auto& context : w.contexts) {
      for (const auto& stream : context->streams) {
        takeFinished(stream.get(), now, &done);
      }
    }
  }
  for (Activity& activity : done) {
    activity.start = toTicks(activity.start);
    activity.end = toTicks(activity.end);
    writeTruth(activity);
  }
  std::erase_if(done, [](const Activity& a) { return !a.traced || a.forced; });
  Tracer* client = tracer();
  if (client && !done.empty()) {
    client->finished(done);
  }
}

std::vector<Activity> takeUnfinished() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  std::vector<Activity> taken;
  for (const auto& context : w.contexts) {
    for (const auto& stream : context->streams) {
      for (Activity& activity : stream->unfinished) {
        if (activity.traced && !activity.forced) {
          activity.forced = true;
          taken.push_back(activity);
          taken.back().start = taken.back().end = 0;
        }
      }
    }
  }
  return taken;
}

namespace {

// The next work on a kernel's stream begins when the kernel ends.
void release(CUstream_st& stream, uint64_t now) {
  uint64_t sooner = 0;
  for (Activity& activity : stream.unfinished) {
    activity.start -= sooner;
    activity.end -= sooner;
    if (activity.ranNs != kHeldNs) {
      continue;
    }
    activity.ranNs = std::max(now, activity.start + kLaunchLatencyNs) - activity.start;
    const uint64_t end = activity.start + activity.ranNs;
    sooner += activity.end - end;
    activity.end = end;
  }
  stream.endNs -= sooner;
}

}  // namespace

void releaseHeld() {
  const std::lock_guard lock(world().mutex);
  for (const auto& context : world().contexts) {
    for (const auto& stream : context->streams) {
      release(*stream, nowNs());
    }
  }
}

uint32_t nextGraphId() {
  const std::lock_guard lock(world().mutex);
  return world().nextGraph++;
}

}  // namespace cudasim
