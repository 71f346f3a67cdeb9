// Jobs of a few operations for tests of their graph. Times are in µs.
#pragma once

#include "analysis/engine/operations/operation_graph.h"
#include "analysis/engine/operations/step_times.h"
#include "analysis/engine/replay/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::engine::operations {

class Job {
 public:
  static constexpr std::int64_t kMicro = 1000;

  Job(std::int64_t dataParallel, std::int64_t stages) {
    rows_.stages = stages;
    for (std::int64_t rank = 0; rank < dataParallel; ++rank)
      for (std::int64_t stage = 0; stage < stages; ++stage) {
        Worker worker;
        worker.processId = static_cast<std::int64_t>(rows_.workers.size()) + 1;
        worker.dataParallel = rank;
        worker.stage = stage;
        rows_.workers.push_back(worker);
      }
    nextStep();
  }
  void nextStep() { rows_.steps.push_back({static_cast<std::int64_t>(rows_.steps.size()), {}}); }

  // Adds an operation from `begin` to `end`. Returns its slice.
  std::int64_t add(std::uint32_t worker,
                   model::OperationType type,
                   std::pair<std::int64_t, std::int64_t> time,
                   std::int64_t chunk = -1) {
    Operation operation;
    operation.sliceId = ++slices_;
    operation.threadId = rows_.workers[worker].processId;
    operation.worker = worker;
    operation.type = type;
    operation.chunk = chunk;
    operation.beginNs = time.first * kMicro;
    operation.durNs = (time.second - time.first) * kMicro;
    rows_.steps.back().operations.push_back(operation);
    return operation.sliceId;
  }

  // Sorted once graph() was called.
  const OperationRows& rows() const { return rows_; }

  OperationGraph graph() {
    for (Step& step : rows_.steps)
      std::stable_sort(
          step.operations.begin(),
          step.operations.end(),
          [](const Operation& a, const Operation& b) { return a.beginNs < b.beginNs; });
    Result<OperationGraph> made = graphOf(rows_);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? *std::move(made) : OperationGraph();
  }

 private:
  OperationRows rows_;
  std::int64_t slices_ = 0;
};

// When the operation of this slice begins in the replay without delays, in µs from the begin of the
// first step. -1: the graph does not have it.
inline std::int64_t replayedBegin(const OperationGraph& job, std::int64_t slice) {
  const std::vector<std::int64_t> none(job.graph.nodes(), 0);
  const std::vector<std::int64_t> begin = replay::replay(job.graph, {job.graph.durNs, none});
  for (graph::NodeIndex node = 0; node < job.graph.nodes(); ++node)
    if (job.graph.row[node] == slice)
      return (begin[node] - begin[job.steps.front().anchor]) / Job::kMicro;
  return -1;
}

}  // namespace sonde::engine::operations
