#include "tests/cudasim/core/graph.h"

#include "tests/cudasim/core/world.h"

#include <utility>

namespace cudasim {

CUgraph createGraph() {
  auto* graph = new CUgraph_st;
  graph->id = nextGraphId();
  return graph;
}

uint64_t nodeId(uint32_t graph, size_t index) {
  return uint64_t{graph} << 32 | (index + 1);
}

CUgraphNode addNode(CUgraph graph,
                    const CUgraphNode* dependencies,
                    size_t count,
                    const Work& work) {
  auto node = std::make_unique<CUgraphNode_st>();
  node->graph = graph;
  node->index = graph->nodes.size();
  node->work = work;
  for (size_t i = 0; i < count; ++i) {
    node->dependencies.push_back(dependencies[i]->index);
  }
  graph->nodes.push_back(std::move(node));
  return graph->nodes.back().get();
}

CUgraphExec instantiate(CUgraph graph) {
  auto* executable = new CUgraphExec_st;
  GraphWork& work = executable->work;
  work.graph = nextGraphId();
  for (const auto& node : graph->nodes) {
    work.nodes.push_back(node->work);
    work.nodes.back().activity.graph = work.graph;
    work.nodes.back().activity.graphNode = nodeId(work.graph, node->index);
    work.dependencies.push_back(node->dependencies);
  }
  return executable;
}

CUresult beginCapture(CUstream stream) {
  const CUgraph graph = createGraph();
  const std::lock_guard lock(world().mutex);
  if (stream->capture) {
    return CUDA_ERROR_ILLEGAL_STATE;
  }
  stream->capture = graph;
  stream->captureBroken = false;
  return CUDA_SUCCESS;
}

CUresult endCapture(CUstream stream, CUgraph* graph) {
  const std::lock_guard lock(world().mutex);
  *graph = std::exchange(stream->capture, nullptr);
  if (std::exchange(stream->captureBroken, false)) {
    *graph = nullptr;
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  return *graph ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
}

CUstreamCaptureStatus captureStatus(CUstream stream) {
  const std::lock_guard lock(world().mutex);
  return !stream->capture        ? CU_STREAM_CAPTURE_STATUS_NONE
         : stream->captureBroken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void capture(CUstream stream, const Work& work) {
  const auto& nodes = stream->capture->nodes;
  const CUgraphNode last = nodes.empty() ? nullptr : nodes.back().get();
  addNode(stream->capture, &last, last ? 1 : 0, work);
}

}  // namespace cudasim
