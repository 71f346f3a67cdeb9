// The driver's functions for kernels and graphs, and the lookup of functions by name.
#include "tests/cudasim/core/graph.h"
#include "tests/cudasim/core/memory.h"
#include "tests/cudasim/cudasim.h"
#include "tests/cudasim/driver/driver_call.h"

#include <dlfcn.h>

#include <map>
#include <string>

using namespace cudasim;

namespace {

const std::map<CUresult, const char*>& errorNames() {
  static const auto* names = new std::map<CUresult, const char*>{
      {CUDA_SUCCESS, "CUDA_SUCCESS"},
#include "driver_errors.inc"
  };
  return *names;
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction f,
                        unsigned int gridX,
                        unsigned int gridY,
                        unsigned int gridZ,
                        unsigned int blockX,
                        unsigned int blockY,
                        unsigned int blockZ,
                        unsigned int shared,
                        CUstream hStream,
                        void** kernelParams,
                        void** extra) {
  DRIVER_CALL(cuLaunchKernel,
              f,
              gridX,
              gridY,
              gridZ,
              blockX,
              blockY,
              blockZ,
              shared,
              hStream,
              kernelParams,
              extra);
  return call.symbol(f->name).on(hStream, [&](CUstream stream) {
    return submit(stream, kernelWork(f, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared));
  });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config,
                          CUfunction f,
                          void** kernelParams,
                          void** extra) {
  DRIVER_CALL(cuLaunchKernelEx, config, f, kernelParams, extra);
  return call.symbol(f->name).on(config->hStream, [&](CUstream stream) {
    return submit(stream,
                  kernelWork(f,
                             {config->gridDimX, config->gridDimY, config->gridDimZ},
                             {config->blockDimX, config->blockDimY, config->blockDimZ},
                             config->sharedMemBytes));
  });
}

// Accepts any image: its functions are kernels of 1 us.
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  DRIVER_CALL(cuModuleLoadData, module, image);
  return call([&] {
    static char any = 0;
    *module = reinterpret_cast<CUmodule>(&any);
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
  DRIVER_CALL(cuModuleGetFunction, hfunc, hmod, name);
  return call([&] {
    *hfunc = cudasimFunction(name, 1'000);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
  DRIVER_CALL(cuGraphCreate, phGraph, flags);
  return call([&] {
    *phGraph = createGraph();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode,
                                 CUgraph hGraph,
                                 const CUgraphNode* dependencies,
                                 size_t numDependencies,
                                 const CUDA_KERNEL_NODE_PARAMS* node) {
  DRIVER_CALL(cuGraphAddKernelNode_v2, phGraphNode, hGraph, dependencies, numDependencies, node);
  return call([&] {
    const Work work = kernelWork(node->func,
                                 {node->gridDimX, node->gridDimY, node->gridDimZ},
                                 {node->blockDimX, node->blockDimY, node->blockDimZ},
                                 node->sharedMemBytes);
    *phGraphNode = addNode(hGraph, dependencies, numDependencies, work);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec,
                                     CUgraph hGraph,
                                     unsigned long long flags) {
  DRIVER_CALL(cuGraphInstantiateWithFlags, phGraphExec, hGraph, flags);
  return call([&] {
    *phGraphExec = instantiate(hGraph);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphLaunch(CUgraphExec hGraph, CUstream hStream) {
  DRIVER_CALL(cuGraphLaunch, hGraph, hStream);
  return call.on(hStream, [&](CUstream stream) { return launchGraph(stream, hGraph->work); });
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
  DRIVER_CALL(cuGraphExecDestroy, hGraphExec);
  return call([&] { return CUDA_SUCCESS; });
}

CUresult cuGraphDestroy(CUgraph hGraph) {
  DRIVER_CALL(cuGraphDestroy, hGraph);
  return call([&] { return CUDA_SUCCESS; });
}

// The newest version of the function with that name, whatever CUDA version was requested.
CUresult cuGetProcAddress_v2(const char* symbol,
                             void** pfn,
                             int /*cudaVersion*/,
                             cuuint64_t /*flags*/,
                             CUdriverProcAddressQueryResult* status) {
  Dl_info self{};
  dladdr(reinterpret_cast<void*>(cuInit), &self);
  void* library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *pfn = nullptr;
  for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
    if (!*pfn) {
      *pfn = dlsym(library, (std::string(symbol) + suffix).c_str());
    }
  }
  if (status) {
    *status = *pfn ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return *pfn ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

#undef cuGetProcAddress
CUresult cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, nullptr);
}

CUresult cuGetErrorName(CUresult error, const char** pStr) {
  const auto found = errorNames().find(error);
  *pStr = found == errorNames().end() ? nullptr : found->second;
  return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** pStr) {
  return cuGetErrorName(error, pStr);
}

}  // extern "C"
