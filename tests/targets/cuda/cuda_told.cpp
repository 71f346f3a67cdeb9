// Runs commands from stdin on a simulated device, a word and arguments per line, and prints
// "done" on stdout after each:
//   launch NAME NS STREAM   a kernel of that duration; streams have numbers
//   launches COUNT NAME NS STREAM
//   graph TIMES COUNT NAME NS   a graph of COUNT kernels, launched TIMES times
//   hold NAME STREAM        a kernel that ends with release
//   release
//   sync
//   allocate NAME, free NAME
//   crash
//   begin NAME, iteration NAME, end   scopes of the program's thread
#include "plugins/api/sonde.h"
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>

#include <csignal>
#include <cstdint>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

class Program {
 public:
  void run() {
    for (std::string verb; std::cin >> verb;) {
      take(verb);
      std::cout << "done" << std::endl;
    }
  }

 private:
  static std::string word() {
    std::string text;
    std::cin >> text;
    return text;
  }
  cudaStream_t stream() {
    cudaStream_t& stream = streams_[word()];
    if (stream == nullptr)
      cudaStreamCreate(&stream);
    return stream;
  }
  void launch(const void* kernel) {
    cudaLaunchKernel(kernel, dim3{1, 1, 1}, dim3{32, 1, 1}, nullptr, 0, stream());
  }
  void launchTimes(int count) {
    const std::string name = word();
    const void* const kernel = cudasimKernel(name.c_str(), std::stoull(word()));
    const cudaStream_t on = stream();
    for (int at = 0; at < count; ++at)
      cudaLaunchKernel(kernel, dim3{1, 1, 1}, dim3{32, 1, 1}, nullptr, 0, on);
  }
  void launchGraph(int times) {
    cudaStream_t on = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    cudaStreamCreate(&on);
    cudaStreamBeginCapture(on, cudaStreamCaptureModeThreadLocal);
    const int count = std::stoi(word());
    const std::string name = word();
    const void* const kernel = cudasimKernel(name.c_str(), std::stoull(word()));
    for (int at = 0; at < count; ++at)
      cudaLaunchKernel(kernel, dim3{1, 1, 1}, dim3{32, 1, 1}, nullptr, 0, on);
    cudaStreamEndCapture(on, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    for (int at = 0; at < times; ++at)
      cudaGraphLaunch(ready, on);
  }
  void open(int kind) {
    scopes_.push_back(sonde_begin(kind, names_.insert(word()).first->c_str()));
  }

  void take(const std::string& verb) {
    if (verb == "launch") {
      launchTimes(1);
    } else if (verb == "launches") {
      launchTimes(std::stoi(word()));
    } else if (verb == "graph") {
      launchGraph(std::stoi(word()));
    } else if (verb == "crash") {
      std::raise(SIGSEGV);
    } else if (verb == "hold") {
      launch(cudasimHeldKernel(word().c_str()));
    } else if (verb == "release") {
      cudasimRelease();
    } else if (verb == "sync") {
      cudaDeviceSynchronize();
    } else if (verb == "allocate") {
      cudaMalloc(&memory_[word()], 4096);
    } else if (verb == "free") {
      cudaFree(memory_[word()]);
    } else if (verb == "begin") {
      open(SONDE_OPERATION);
    } else if (verb == "iteration") {
      open(SONDE_ITERATION);
    } else if (verb == "end") {
      sonde_end(scopes_.back());
      scopes_.pop_back();
    }
  }

  std::map<std::string, cudaStream_t> streams_;
  std::map<std::string, void*> memory_;
  std::set<std::string> names_;
  std::vector<sonde_scope> scopes_;
};

}  // namespace

int main() {
  Program().run();
  return 0;
}
