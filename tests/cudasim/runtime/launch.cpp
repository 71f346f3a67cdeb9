// The runtime's functions for kernels and graphs.
#include "tests/cudasim/core/graph.h"
#include "tests/cudasim/core/memory.h"
#include "tests/cudasim/runtime/runtime_call.h"

#include <cstdlib>

using namespace cudasim;

namespace {

// Converts the result of cudasimKernel.
CUfunction functionOf(const void* pointer) {
  return static_cast<CUfunction>(const_cast<void*>(pointer));
}

uint64_t addressOf(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

Extent extentOf(const dim3& d) {
  return {d.x, d.y, d.z};
}

// Launches within a driver call, if nested calls are requested.
CUresult launch(CUstream stream, const Work& work) {
  static const bool isNested = std::getenv("CUDASIM_NESTED_CALLS");
  compileIfAsked();
  if (!isNested) {
    return submit(stream, work);
  }
  Call call;
  call.domain = CUPTI_CB_DOMAIN_DRIVER_API;
  call.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
  call.name = "cuLaunchKernel";
  return apiCall<CUresult>(call, [&] { return submit(stream, work); });
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(
    const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem, cudaStream_t on) {
  RUNTIME_CALL(cudaLaunchKernel, v7000, func, gridDim, blockDim, args, sharedMem, on);
  return call.symbol(functionOf(func)->name).on(on, [&](CUstream stream) {
    return launch(stream,
                  kernelWork(functionOf(func),
                             extentOf(gridDim),
                             extentOf(blockDim),
                             static_cast<uint32_t>(sharedMem)));
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
  RUNTIME_CALL(cudaLaunchKernelExC, v11060, config, func, args);
  return call.symbol(functionOf(func)->name).on(config->stream, [&](CUstream stream) {
    return submit(stream,
                  kernelWork(functionOf(func),
                             extentOf(config->gridDim),
                             extentOf(config->blockDim),
                             static_cast<uint32_t>(config->dynamicSmemBytes)));
  });
}

cudaError_t cudaGraphCreate(cudaGraph_t* pGraph, unsigned int flags) {
  RUNTIME_CALL(cudaGraphCreate, v10000, pGraph, flags);
  return call([&] {
    *pGraph = createGraph();
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* pGraphNode,
                                   cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies,
                                   size_t count,
                                   const cudaKernelNodeParams* node) {
  RUNTIME_CALL(cudaGraphAddKernelNode, v10000, pGraphNode, graph, dependencies, count, node);
  return call([&] {
    *pGraphNode = addNode(graph,
                          dependencies,
                          count,
                          kernelWork(functionOf(node->func),
                                     extentOf(node->gridDim),
                                     extentOf(node->blockDim),
                                     node->sharedMemBytes));
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* pGraphNode,
                                     cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies,
                                     size_t numDependencies,
                                     void* dst,
                                     const void* src,
                                     size_t count,
                                     cudaMemcpyKind kind) {
  RUNTIME_CALL(cudaGraphAddMemcpyNode1D,
               v11010,
               pGraphNode,
               graph,
               dependencies,
               numDependencies,
               dst,
               src,
               count,
               kind);
  return call([&] {
    *pGraphNode = addNode(graph,
                          dependencies,
                          numDependencies,
                          copyWork(runtimeContext(), addressOf(dst), addressOf(src), count));
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* pGraphNode,
                                   cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies,
                                   size_t count,
                                   const cudaMemsetParams* set) {
  RUNTIME_CALL(cudaGraphAddMemsetNode, v10000, pGraphNode, graph, dependencies, count, set);
  return call([&] {
    const size_t bytes = set->width * set->height * set->elementSize;
    *pGraphNode =
        addNode(graph, dependencies, count, setWork(addressOf(set->dst), set->value, bytes));
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* pGraphExec,
                                 cudaGraph_t graph,
                                 unsigned long long flags) {
  RUNTIME_CALL(cudaGraphInstantiate, v12000, pGraphExec, graph, flags);
  return call([&] {
    *pGraphExec = instantiate(graph);
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t on) {
  RUNTIME_CALL(cudaGraphLaunch, v10000, graphExec, on);
  return call.on(on, [&](CUstream stream) { return launchGraph(stream, graphExec->work); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec) {
  RUNTIME_CALL(cudaGraphExecDestroy, v10000, graphExec);
  return call([&] { return CUDA_SUCCESS; });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  RUNTIME_CALL(cudaGraphDestroy, v10000, graph);
  return call([&] { return CUDA_SUCCESS; });
}

}  // extern "C"
