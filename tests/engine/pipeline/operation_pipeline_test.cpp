// Pipelines of operation-level traces.
#include "analysis/engine/operations/job_view.h"
#include "analysis/engine/pipeline/read_pipeline.h"
#include "analysis/engine/pipeline/rearrange.h"
#include "tests/engine/operations/operation_jobs.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <optional>

namespace sonde::engine::pipeline {
namespace {

using model::OperationType;
using test::must;
using whatif::Scenario;

// Two copies of a model. The weights of a chunk are gathered before its first forward, and its
// gradients reduced behind its last backward. The times of operations differ.
class OperationJob {
 public:
  // `transfer`: about as long as a send takes; a forward takes 10, a backward 20.
  OperationJob(Schedule schedule, const Shape& shape, std::int64_t transfer = 2)
      : shape_(shape), transfer_(transfer), job_(2, shape.stages) {
    const std::vector<Order> orders = must(ordersOf(schedule, shape));
    for (int step = 0; step < 2; ++step) {
      if (step > 0)
        job_.nextStep();
      for (std::uint32_t worker = 0; worker < 2 * shape.stages; ++worker)
        addWorker(worker, orders[worker % static_cast<std::uint32_t>(shape.stages)]);
    }
    graph_ = job_.graph();
  }

  Scenario scenario() const { return Scenario(operations::traceGraphOf(graph_)); }
  PipelineJob pipeline(const Scenario& scenario) const {
    PipelineJob job = must(operationPipelineOf(job_.rows(), graph_, scenario));
    must(countMicrobatches(job));
    return job;
  }
  // The lengths of both steps.
  std::vector<std::int64_t> lengths(const Scenario& scenario) const {
    const std::vector<std::int64_t> begin = scenario.replay().beginNs;
    std::vector<std::int64_t> found;
    for (const operations::StepNodes& step : graph_.steps)
      found.push_back(begin[step.last] - begin[step.anchor]);
    return found;
  }
  std::vector<std::int64_t> lengthsWith(const Target& target) const {
    Scenario changed = scenario();
    must(rearrange(changed, pipeline(changed), target));
    return lengths(changed);
  }

 private:
  void addWorker(std::uint32_t worker, const Order& order) {
    const std::int64_t stage = worker % shape_.stages;
    for (std::int64_t chunk = 0; chunk < shape_.chunks; ++chunk)
      job_.add(worker, OperationType::ParamsAllGather, {chunk, chunk + 30}, chunk);
    std::int64_t at = 100;
    for (const Turn& turn : order) {
      const std::int64_t part = turn.chunk * shape_.stages + stage;
      const bool isFirst = part == 0;
      const bool isLast = part == shape_.stages * shape_.chunks - 1;
      const std::int64_t ns = (turn.isForward ? 10 : 20) + next_++ % 7;
      if (turn.isForward ? !isFirst : !isLast)
        job_.add(worker,
                 turn.isForward ? OperationType::ForwardReceive : OperationType::BackwardReceive,
                 {at, at + transfer_ + next_ % 3});
      job_.add(worker,
               turn.isForward ? OperationType::Forward : OperationType::Backward,
               {at + 10, at + 10 + ns},
               turn.chunk);
      if (turn.isForward ? !isLast : !isFirst)
        job_.add(worker,
                 turn.isForward ? OperationType::ForwardSend : OperationType::BackwardSend,
                 {at + 40, at + 40 + transfer_ + next_ % 3});
      if (!turn.isForward && turn.microbatch + 1 == shape_.microbatches)
        job_.add(worker, OperationType::GradsReduceScatter, {at + 50, at + 110}, turn.chunk);
      at += 100;
    }
    job_.add(worker, OperationType::Clip, {at + 100, at + 105});
    job_.add(worker, OperationType::Optimizer, {at + 110, at + 120 + stage});
  }

  Shape shape_;
  std::int64_t transfer_;
  operations::Job job_;
  operations::OperationGraph graph_;
  std::int64_t next_ = 0;  // operation
};

TEST(OperationPipeline, IsTheSameWithTheJobsOwnSettings) {
  for (const auto& [schedule, shape] : {std::pair(Schedule::OneF1B, Shape{4, 1, 6}),
                                        {Schedule::GPipe, Shape{3, 1, 4}},
                                        {Schedule::Interleaved, Shape{2, 2, 4}},
                                        {Schedule::Interleaved, Shape{3, 3, 6}}})
    for (const std::int64_t transfer : {2, 15, 60}) {
      const OperationJob job(schedule, shape, transfer);
      const Scenario now = job.scenario();
      const PipelineJob pipeline = job.pipeline(now);
      EXPECT_EQ(pipeline.shape, shape);
      EXPECT_EQ(scheduleOf(pipeline), schedule);
      EXPECT_EQ(job.lengthsWith({schedule, shape, 1}), job.lengths(now))
          << nameOf(schedule) << ", " << transfer;
    }
}

// A job that has the other schedule takes as long.
TEST(OperationPipeline, TakesAsLongAsAJobWithTheOtherSchedule) {
  const Shape shape{4, 1, 6};
  const OperationJob now(Schedule::OneF1B, shape);
  const OperationJob then(Schedule::GPipe, shape);
  const auto found = now.lengthsWith({Schedule::GPipe, shape, 1});
  const auto truth = then.lengths(then.scenario());
  for (std::size_t step = 0; step < truth.size(); ++step)  // times differ by microbatch
    EXPECT_NEAR(static_cast<double>(found[step]) / static_cast<double>(truth[step]), 1, 0.05);
  EXPECT_NE(found, now.lengths(now.scenario()));
}

// The second step's first forwards run in the first one, and its clipping still ends it.
TEST(OperationPipeline, FillsItsNextStepWithoutAFlush) {
  const Shape shape{4, 1, 6};
  const OperationJob job(Schedule::OneF1B, shape);
  EXPECT_LT(job.lengthsWith({Schedule::Async, shape, 1})[1], job.lengths(job.scenario())[1]);
}

}  // namespace
}  // namespace sonde::engine::pipeline
