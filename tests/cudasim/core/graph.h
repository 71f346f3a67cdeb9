#pragma once
// Graphs of kernels, copies and sets, built node by node or by capturing one stream. Any thread;
// handles are never freed.

#include "tests/cudasim/core/device.h"

#include <cuda.h>

#include <memory>
#include <vector>

struct CUgraphNode_st {
  CUgraph graph = nullptr;
  size_t index = 0;
  cudasim::Work work;
  std::vector<size_t> dependencies;
};

struct CUgraph_st {
  uint32_t id = 0;
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
  cudasim::GraphWork work;
};

namespace cudasim {

CUgraph createGraph();
// Requires: dependencies are nodes of `graph`.
CUgraphNode addNode(CUgraph graph, const CUgraphNode* dependencies, size_t count, const Work& work);
CUgraphExec instantiate(CUgraph graph);
uint64_t nodeId(uint32_t graph, size_t index);

CUresult beginCapture(CUstream stream);
CUstreamCaptureStatus captureStatus(CUstream stream);
CUresult endCapture(CUstream stream, CUgraph* graph);
// Requires: the world's lock, and `stream` is capturing. The new node waits for the one before.
void capture(CUstream stream, const Work& work);

}  // namespace cudasim
