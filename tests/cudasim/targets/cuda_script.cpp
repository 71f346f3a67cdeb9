// Runs a script of CUDA work, for tests of profilers. Usage: cuda_script FILE | NAME (of the
// scripts below). A line is a command and `key=value` arguments; every command takes dev=D (0
// without it) and most stream=N (0, the default stream, without it; others are made when first
// named):
// - thread NAME: a thread with that name runs the following lines, at once with the other threads
// - launch name=K ns=N [count=N] [compile=N]: a kernel of that duration, `count` times; before the
//   first launch it is compiled for `compile` ns
// - copy kind=htod|dtoh|dtod bytes=N [ns=N] [sync=1]; peer to=D bytes=N: from dev to another device
// - set bytes=N [value=N]
// - record event=E; wait event=E, of the stream; wait_host event=E
// - graph nodes=N ns=N [launches=N]: a chain of kernels node0, node1, …, and a copy
// - alloc bytes=N name=A [async=1]; free name=A [async=1]; trim bytes=N, the default pool
// - touch bytes=N [by=host]
// - push id=N [kind=N]; pop [kind=N]: ids of CUPTI's external correlation
// - compile ns=N; sync [stream=N]; reset; sleep ns=N
// - exec path=P, which fails
// - quit code=N, by _exit, with the truth written; kill [signal=N], the same
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

const std::map<std::string, std::string> kScripts = {
    {"mixed",
     "alloc name=a bytes=1048576\n"
     "copy kind=htod bytes=1048576 stream=1\n"
     "launch name=gemm ns=50000 stream=1 count=3\nrecord event=done stream=1\n"
     "wait event=done stream=2\nlaunch name=reduce ns=20000 stream=2\n"
     "launch name=other ns=80000 stream=1 dev=1\npeer to=1 bytes=65536 stream=3\n"
     "graph nodes=3 ns=10000 stream=2 launches=2\nset bytes=4096 stream=2\n"
     "touch bytes=65536\ncompile ns=100000\nwait_host event=done\nsync stream=2\nsync\nsync dev=1\n"
     "copy kind=dtoh bytes=1048576 sync=1\nfree name=a\n"},
    {"threads",
     "thread first\nlaunch name=a ns=200000 stream=1 count=5\nsync stream=1\n"
     "thread second\nlaunch name=b ns=200000 stream=2 count=5\nsync stream=2\n"},
    {"unsynchronised", "launch name=a ns=1000 stream=1 count=10\nsleep ns=1000000\n"},
    {"reset",
     "launch name=a ns=1000 stream=1 count=10\nsync\nreset\nlaunch name=b ns=1000\nsync\n"}};

struct Command {
  std::string verb;
  std::map<std::string, std::string> arguments;

  std::string text(const char* key) const {
    const auto found = arguments.find(key);
    return found == arguments.end() ? "" : found->second;
  }
  uint64_t number(const char* key, uint64_t otherwise = 0) const {
    const std::string value = text(key);
    return value.empty() ? otherwise : std::strtoull(value.c_str(), nullptr, 10);
  }
};

struct Script {
  std::vector<std::pair<std::string, std::vector<Command>>> threads{{"", {}}};
};

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "cuda_script: %s: %s\n", what, cudaGetErrorString(error));
    std::exit(3);
  }
}
#define CHECK(call) check(call, #call)

std::mutex gMutex;
std::map<std::pair<uint64_t, uint64_t>, cudaStream_t> gStreams;
std::map<std::string, cudaEvent_t> gEvents;
std::map<std::string, void*> gMemory;
std::map<uint64_t, void*> gBuffers;  // by device: what copies copy
void* gHost = nullptr;

constexpr size_t kBufferBytes = size_t{1} << 30;

cudaStream_t streamOf(const Command& c) {
  const std::lock_guard lock(gMutex);
  if (c.number("stream") == 0) {
    return nullptr;
  }
  cudaStream_t& stream = gStreams[{c.number("dev"), c.number("stream")}];
  if (!stream) {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  return stream;
}

cudaEvent_t eventOf(const Command& c) {
  const std::lock_guard lock(gMutex);
  cudaEvent_t& event = gEvents[c.text("event")];
  if (!event) {
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  return event;
}

void* bufferOf(uint64_t device) {
  const std::lock_guard lock(gMutex);
  void*& buffer = gBuffers[device];
  if (!buffer) {
    CHECK(cudaMalloc(&buffer, kBufferBytes));
  }
  return buffer;
}

void* host() {
  const std::lock_guard lock(gMutex);
  if (!gHost) {
    CHECK(cudaMallocHost(&gHost, kBufferBytes));
  }
  return gHost;
}

void launch(const Command& c) {
  const void* kernel = cudasimKernel(c.text("name").c_str(), c.number("ns", 1000));
  cudasimCompileAtLaunch(c.number("compile"));
  for (uint64_t i = 0; i < c.number("count", 1); ++i) {
    CHECK(cudaLaunchKernel(kernel, dim3(4, 2, 1), dim3(128, 1, 1), nullptr, 0, streamOf(c)));
  }
}

void copy(const Command& c) {
  const std::string kind = c.text("kind");
  void* device = bufferOf(c.number("dev"));
  void* to = kind == "dtoh" ? host() : device;
  void* from = kind == "htod" ? host() : device;
  cudasimNextDuration(c.number("ns"));
  if (c.number("sync")) {
    CHECK(cudaMemcpy(to, from, c.number("bytes"), cudaMemcpyDefault));
  } else {
    CHECK(cudaMemcpyAsync(to, from, c.number("bytes"), cudaMemcpyDefault, streamOf(c)));
  }
}

void peer(const Command& c) {
  const auto from = static_cast<int>(c.number("dev"));
  const auto to = static_cast<int>(c.number("to"));
  CHECK(cudaMemcpyPeerAsync(nullptr, to, nullptr, from, c.number("bytes"), streamOf(c)));
}

void set(const Command& c) {
  CHECK(cudaMemsetAsync(bufferOf(c.number("dev")),
                        static_cast<int>(c.number("value")),
                        c.number("bytes"),
                        streamOf(c)));
}

void record(const Command& c) {
  CHECK(cudaEventRecord(eventOf(c), streamOf(c)));
}
void wait(const Command& c) {
  CHECK(cudaStreamWaitEvent(streamOf(c), eventOf(c), 0));
}
void waitHost(const Command& c) {
  CHECK(cudaEventSynchronize(eventOf(c)));
}

void graph(const Command& c) {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t last = nullptr;
  for (uint64_t i = 0; i < c.number("nodes", 1); ++i) {
    cudaKernelNodeParams params{};
    params.func = const_cast<void*>(
        cudasimKernel(("node" + std::to_string(i)).c_str(), c.number("ns", 1000)));
    params.gridDim = dim3(8, 1, 1);
    params.blockDim = dim3(64, 1, 1);
    cudaGraphNode_t node = nullptr;
    CHECK(cudaGraphAddKernelNode(&node, graph, &last, last ? 1 : 0, &params));
    last = node;
  }
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddMemcpyNode1D(
      &node, graph, &last, 1, host(), bufferOf(c.number("dev")), 4096, cudaMemcpyDefault));
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (uint64_t i = 0; i < c.number("launches", 1); ++i) {
    CHECK(cudaGraphLaunch(executable, streamOf(c)));
  }
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
}

void alloc(const Command& c) {
  void* memory = nullptr;
  if (c.number("async")) {
    CHECK(cudaMallocAsync(&memory, c.number("bytes"), streamOf(c)));
  } else {
    CHECK(cudaMalloc(&memory, c.number("bytes")));
  }
  const std::lock_guard lock(gMutex);
  gMemory[c.text("name")] = memory;
}

void release(const Command& c) {
  void* memory = nullptr;
  {
    const std::lock_guard lock(gMutex);
    memory = gMemory[c.text("name")];
  }
  if (c.number("async")) {
    CHECK(cudaFreeAsync(memory, streamOf(c)));
  } else {
    CHECK(cudaFree(memory));
  }
}

void trim(const Command& c) {
  cudaMemPool_t pool = nullptr;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, static_cast<int>(c.number("dev"))));
  CHECK(cudaMemPoolTrimTo(pool, c.number("bytes")));
}

void touch(const Command& c) {
  void* memory = nullptr;
  CHECK(cudaMallocManaged(&memory, c.number("bytes"), cudaMemAttachGlobal));
  cudasimTouchManaged(memory, c.number("bytes"), c.text("by") == "host" ? 0 : 1);
  CHECK(cudaFree(memory));
}

// A function of the CUPTI that a profiler has loaded.
template <typename Function>
Function cupti(const char* name) {
  for (const char* library : {"libcupti.so.12", "libcupti.so.13"}) {
    if (void* const loaded = dlopen(library, RTLD_NOLOAD | RTLD_LAZY)) {
      return reinterpret_cast<Function>(dlsym(loaded, name));
    }
  }
  std::fprintf(stderr, "cuda_script: no CUPTI is loaded\n");
  std::exit(3);
}

void push(const Command& c) {
  using Push = CUptiResult (*)(CUpti_ExternalCorrelationKind, uint64_t);
  cupti<Push>("cuptiActivityPushExternalCorrelationId")(
      static_cast<CUpti_ExternalCorrelationKind>(c.number("kind", 3)), c.number("id"));
}

void pop(const Command& c) {
  using Pop = CUptiResult (*)(CUpti_ExternalCorrelationKind, uint64_t*);
  uint64_t id = 0;
  cupti<Pop>("cuptiActivityPopExternalCorrelationId")(
      static_cast<CUpti_ExternalCorrelationKind>(c.number("kind", 3)), &id);
}

void compile(const Command& c) {
  cudasimCompile(c.number("ns"));
}

void sync(const Command& c) {
  if (c.arguments.count("stream")) {
    CHECK(cudaStreamSynchronize(streamOf(c)));
  } else {
    CHECK(cudaDeviceSynchronize());
  }
}

void reset(const Command& c) {
  CHECK(cudaDeviceReset());
  const std::lock_guard lock(gMutex);
  std::erase_if(gStreams,
                [&](const auto& stream) { return stream.first.first == c.number("dev"); });
  gBuffers.erase(c.number("dev"));
}

void sleepFor(const Command& c) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(c.number("ns")));
}

void end(const Command& c) {
  cudasimFlushTruth();
  kill(getpid(), static_cast<int>(c.number("signal", SIGKILL)));
}

void quit(const Command& c) {
  cudasimFlushTruth();
  _exit(static_cast<int>(c.number("code")));
}

void exec(const Command& c) {
  const std::string path = c.text("path");
  execl(path.c_str(), path.c_str(), nullptr);
}

const std::map<std::string, void (*)(const Command&)> kVerbs = {
    {"launch", launch}, {"copy", copy},      {"peer", peer},          {"set", set},
    {"record", record}, {"wait", wait},      {"wait_host", waitHost}, {"graph", graph},
    {"alloc", alloc},   {"free", release},   {"touch", touch},        {"trim", trim},
    {"push", push},     {"pop", pop},        {"compile", compile},    {"sync", sync},
    {"reset", reset},   {"sleep", sleepFor}, {"kill", end},           {"quit", quit},
    {"exec", exec}};

Script parse(std::istream& in) {
  Script script;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Command command;
    if (!(words >> command.verb) || command.verb[0] == '#') {
      continue;
    }
    if (command.verb == "thread") {
      words >> script.threads.emplace_back().first;
      continue;
    }
    if (!kVerbs.count(command.verb)) {
      std::fprintf(stderr, "cuda_script: no such command: %s\n", line.c_str());
      std::exit(2);
    }
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      command.arguments[word.substr(0, equals)] = word.substr(equals + 1);
    }
    script.threads.back().second.push_back(command);
  }
  return script;
}

void run(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    CHECK(cudaSetDevice(static_cast<int>(command.number("dev"))));
    kVerbs.at(command.verb)(command);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: cuda_script FILE | NAME\n");
    return 2;
  }
  const auto named = kScripts.find(argv[1]);
  std::ifstream file(argv[1]);
  std::istringstream text(named == kScripts.end() ? "" : named->second);
  const Script script = named == kScripts.end() ? parse(file) : parse(text);
  run(script.threads.front().second);
  std::vector<std::thread> threads;
  for (size_t i = 1; i < script.threads.size(); ++i) {
    threads.emplace_back(run, script.threads[i].second);
    pthread_setname_np(threads.back().native_handle(),
                       script.threads[i].first.substr(0, 15).c_str());
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return 0;
}
