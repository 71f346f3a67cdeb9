#include "tests/ncclsim/launch.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace ncclsim {
namespace {

using sonde::test::HostProxyOp;
using sonde::test::NcclHost;

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

constexpr std::uint64_t kKernelNs = 50'000;
constexpr std::uint64_t kHangNs = 300'000'000;

std::mutex gThreadsMutex;
std::vector<std::thread> gThreads;

template <typename Function>
Function inProcess(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

int pluginVersion() {
  const char* const version = std::getenv("NCCLSIM_PLUGIN");
  return version == nullptr ? 6 : std::atoi(version);
}

std::unique_ptr<NcclHost> findPlugin() {
  const char* const name = std::getenv("NCCL_PROFILER_PLUGIN");
  if (name != nullptr && std::strcmp(name, "none") == 0)
    return nullptr;
  const bool fromProcess = name != nullptr && std::strcmp(name, "STATIC_PLUGIN") == 0;
  const std::string file = name == nullptr || *name == '\0' ? "libnccl-profiler.so" : name;
  void* library = dlopen(fromProcess ? nullptr : file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    library = dlopen(("libnccl-profiler-" + file + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : NcclHost::open(pluginVersion(), library);
}

bool isCopyEngine(const Task& task) {
  return isSet("NCCLSIM_COPY_ENGINE") && std::strcmp(task.call.function, "AllGather") == 0;
}

// Broadcasts that NCCL 2.29 and later put into a separate queue (scheduler/allgatherv_sched.cc),
// without reporting them to the profiler plugin.
bool isQueuedBroadcast(const Task& task) {
  return pluginVersion() >= 6 && std::strcmp(task.call.function, "Broadcast") == 0;
}

// With one root they are broadcasts as before; with several roots they become one AllGatherV.
bool ofOneRoot(const Tasks& plan) {
  return std::all_of(plan.begin(), plan.end(), [&](const Task& task) {
    return task.call.root == plan.front().call.root;
  });
}

// NCCL 2.27 does not report calls in symmetric memory to the plugin.
bool isTold(const Task& task) {
  const bool symmetric = isSet("NCCLSIM_SYMMETRIC") && !task.peerToPeer;
  return !isQueuedBroadcast(task) && !(symmetric && pluginVersion() == 4);
}

std::string kernelName(const Tasks& plan) {
  const std::string function = plan.front().call.function;
  if (plan.front().peerToPeer)
    return "ncclDevKernel_SendRecv";
  if (isQueuedBroadcast(plan.front()))
    return ofOneRoot(plan) ? "ncclDevKernel_Broadcast_RING_LL" : "ncclDevKernel_AllGatherV_RING_LL";
  if (isSet("NCCLSIM_SYMMETRIC"))
    return (pluginVersion() < 5 ? "ncclSymDevKernel_" : "ncclSymkDevKernel_") + function +
           "_AGxLL_R_sum_f32";
  return "ncclDevKernel_" + function + "_Sum_f32_RING_LL";
}

// The kernel of a plan, with CUPTI's name for it.
void launchKernel(const Tasks& plan) {
  const auto kernelOf = inProcess<const void* (*)(const char*, std::uint64_t)>("cudasimKernel");
  const auto launchOn =
      inProcess<int (*)(const void*, Dim3, Dim3, void**, std::size_t, void*)>("cudaLaunchKernel");
  if (kernelOf == nullptr || launchOn == nullptr || isCopyEngine(plan.front()))
    return;
  const std::string name = kernelName(plan);
  const std::string mangled =
      "_Z" + std::to_string(name.size()) + name + "24ncclDevKernelArgsStorageILm4096EE";
  launchOn(kernelOf(mangled.c_str(), isSet("NCCLSIM_HANG") ? kHangNs : kKernelNs),
           {2, 1, 1},
           {512, 1, 1},
           nullptr,
           0,
           plan.front().stream);
}

// The proxies' work for a rank: to the next rank and from the previous one, in two steps.
void moveOver(NcclHost& host, const ncclComm& comm, void* parent, bool send) {
  HostProxyOp op;
  op.pid = getpid();
  op.peer = (comm.rank + (send ? 1 : comm.size - 1)) % comm.size;
  op.steps = 2;
  op.send = send;
  op.parent = parent;
  void* const handle = host.proxyOp(comm.plugin, op);
  for (int at = 0; at < op.steps; ++at) {
    void* const step = host.proxyStep(comm.plugin, handle, at);
    host.state(step, send ? ncclProfilerProxyStepSendWait : ncclProfilerProxyStepRecvWait, 2048);
    if (!send)
      host.state(step, ncclProfilerProxyStepRecvFlushWait, 2048);
    host.stop(step);
  }
  if (!isSet("NCCLSIM_HANG"))
    host.stop(handle);
}

// Runs one rank after the other: a communicator has one proxy thread.
void runProxies(const Tasks& plan) {
  static std::mutex turn;
  const std::lock_guard lock(turn);
  for (const Task& task : plan) {
    moveOver(*plugin(), *task.comm, task.call.parent, true);
    moveOver(*plugin(), *task.comm, task.call.parent, false);
  }
}

// hostStreamPlanTask: stores the handles of the events in `plan`, as parents of later events.
// Before version 5 the events' own parent is a group.
void tell(Tasks plan) {
  NcclHost* const host = plugin();
  if (host == nullptr || !isTold(plan.front()))
    return;
  const sonde::test::HostRank& rank = plan.front().comm->plugin;
  void* const group = host->group(rank);
  for (Task& task : plan) {
    const auto function = std::hash<std::string>()(task.call.function) % 16;
    if (!task.peerToPeer)
      task.call.number =
          task.captured ? task.comm->numbers[function].load() : task.comm->numbers[function]++;
    if (task.call.parent == nullptr)
      task.call.parent = group;
    task.call.parent = task.peerToPeer      ? host->peerCall(rank, task.call)
                       : isCopyEngine(task) ? host->copyEngine(rank, task.call)
                                            : host->collective(rank, task.call);
  }
  if (isSet("NCCLSIM_NETWORK"))
    inThread(runProxies, plan);
  for (const Task& task : plan)
    host->stop(task.call.parent);
  host->stop(group);
}

void launchPlan(const Tasks& plan) {
  launchKernel(plan);
  ncclComm& comm = *plan.front().comm;
  if (!plan.front().captured)
    return tell(plan);
  const std::lock_guard lock(comm.mutex);
  comm.captured.push_back(plan);
}

}  // namespace

NcclHost* plugin() {
  static const std::unique_ptr<NcclHost> found = findPlugin();
  return found.get();
}

bool isSet(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value == '1';
}

bool isCaptured(void* stream) {
  const auto ask = inProcess<int (*)(void*, int*)>("cuStreamIsCapturing");
  int status = 0;
  return ask != nullptr && ask(stream, &status) == 0 && status != 0;
}

// In the order of ncclGroupCommJoin: by hash, and within one communicator the last rank first.
std::vector<ncclComm*> inOrder(const Tasks& tasks) {
  std::vector<ncclComm*> order;
  for (const Task& task : tasks) {
    if (std::find(order.begin(), order.end(), task.comm) != order.end())
      continue;
    const auto place = std::find_if(order.begin(), order.end(), [&](const ncclComm* other) {
      return other->hash >= task.comm->hash;
    });
    order.insert(place, task.comm);
  }
  return order;
}

// A plan for each communicator's collectives, and one for its sends and receives.
void launch(const Tasks& tasks) {
  for (const ncclComm* comm : inOrder(tasks)) {
    Tasks plans[4];
    for (const Task& task : tasks) {
      if (task.comm == comm)
        plans[task.peerToPeer           ? 1
              : isCopyEngine(task)      ? 2
              : isQueuedBroadcast(task) ? 3
                                        : 0]
            .push_back(task);
    }
    std::stable_sort(plans[0].begin(), plans[0].end(), [](const Task& a, const Task& b) {
      return a.call.count > b.call.count;
    });
    for (const Tasks& plan : plans) {
      if (!plan.empty())
        launchPlan(plan);
    }
  }
}

void launchInTurn(const Tasks& tasks) {
  static std::mutex turn;
  const std::lock_guard lock(turn);
  launch(tasks);
}

void tellOfCaptured(ncclComm& comm) {
  const std::lock_guard lock(comm.mutex);
  for (const Tasks& plan : comm.captured)
    std::thread(tell, plan).join();  // the driver's thread
}

void inThread(void (*work)(const Tasks&), Tasks tasks) {
  const std::lock_guard lock(gThreadsMutex);
  gThreads.emplace_back(work, std::move(tasks));
}

void settle() {
  std::vector<std::thread> threads;
  for (;;) {
    {
      const std::lock_guard lock(gThreadsMutex);
      threads = std::exchange(gThreads, {});
    }
    if (threads.empty())
      return;
    for (std::thread& thread : threads)
      thread.join();
  }
}

}  // namespace ncclsim
