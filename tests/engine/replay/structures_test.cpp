// Iterations whose graphs differ are never mixed.
#include "analysis/engine/replay/structures.h"

#include "analysis/engine/replay/replay_report.h"
#include "tests/engine/replay/simulated_job.h"
#include "tests/jobsim/workloads.h"
#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

#include <string_view>
#include <utility>
#include <vector>

namespace sonde::engine::replay {
namespace {

using test::must;
using ::testing::Each;
using ::testing::ElementsAre;

std::vector<std::uint32_t> structuresIn(const store::Database& trace,
                                        const graph::TraceGraph& graph) {
  const std::vector<JobIteration> iterations = jobIterations(graph);
  return must(
      structuresOf(trace, graph.graph, iterations, iterationOfNodes(graph.graph, iterations)));
}

class Structures : public test::DeviceTrace {
 protected:
  struct Shape {
    std::string_view kernel = "gemm";
    std::int64_t lasts = 300;
    std::int64_t gap = 0;  // before its begin
    std::string_view pass = "forward";
    int calls = 1;  // of a host function; makes nodes come and go
  };

  void addStep(const Rank& made, model::StreamId queue, const Shape& shape) {
    const std::int64_t begin = 1000 * number_;
    step(made, number_++, {begin, begin + 900});
    trace_->slice(made.thread, model::SliceKind::Forward, shape.pass, {begin, begin + 50});
    const auto launch = call(made, "cudaLaunchKernel", {begin + 60, begin + 70});
    const std::int64_t run = begin + 80 + shape.gap;
    kernel(queue, shape.kernel, {run, run + shape.lasts}, launch);
    call(made, "cudaStreamSynchronize", {begin + 75, run + shape.lasts + 5});
    for (int i = 0; i < shape.calls; ++i)
      call(made, "free", {begin + 800 + 10 * i, begin + 805 + 10 * i});
  }
  std::vector<std::uint32_t> structures() {
    const store::Database trace = open();
    return structuresIn(trace, must(graph::readGraph(trace)));
  }

  std::int64_t number_ = 0;
};

TEST_F(Structures, DifferByTheNamesOfKernels) {
  const Rank made = rank(0);
  const auto queue = stream(made, 7);
  for (const auto* name : {"gemm", "conv", "gemm", "conv", "conv"})
    addStep(made, queue, {.kernel = name});
  EXPECT_THAT(structures(), ElementsAre(0, 1, 0, 1, 1));
}

TEST_F(Structures, DifferByTheNamesOfAnnotations) {
  const Rank made = rank(0);
  const auto queue = stream(made, 7);
  for (const auto* name : {"train", "validate", "train"})
    addStep(made, queue, {.pass = name});
  EXPECT_THAT(structures(), ElementsAre(0, 1, 0));
}

TEST_F(Structures, DoNotDifferByTimesOrByCalls) {
  const Rank made = rank(0);
  const auto queue = stream(made, 7);
  addStep(made, queue, {});
  addStep(made, queue, {.lasts = 500, .gap = 40});
  addStep(made, queue, {.calls = 3});
  EXPECT_THAT(structures(), Each(0));
}

TEST_F(Structures, AKernelBelongsToTheIterationThatLaunchedIt) {
  const Rank made = rank(0);
  const auto queue = stream(made, 7);
  for (std::int64_t i = 0; i < 3; ++i) {
    step(made, i, {1000 * i, 1000 * i + 1000});
    const auto launch = call(made, "cudaLaunchKernel", {1000 * i + 10, 1000 * i + 20});
    // The second one runs when the third iteration has begun.
    const std::int64_t run = 1000 * i + (i == 1 ? 1005 : 30);
    kernel(queue, "gemm", {run, run + 20}, launch);
  }
  EXPECT_THAT(structures(), Each(0));
}

TEST_F(Structures, EachIsReplayedOnItsOwn) {
  const Rank made = rank(0);
  const auto queue = stream(made, 7);
  for (int i = 0; i < 8; ++i)
    addStep(made,
            queue,
            i % 4 < 2 ? Shape{.kernel = "gemm", .lasts = 300}
                      : Shape{.kernel = "conv", .lasts = 500, .gap = 100});
  const store::Database trace = open();
  const graph::TraceGraph graph = must(graph::readGraph(trace));
  for (const Judge judge : {Judge::Identity, Judge::Odd}) {
    const ReplayReport report = must(replayReport(trace, graph, judge));
    ASSERT_EQ(report.groups.size(), 2U);
    EXPECT_EQ(report.groups[0].iterations, judge == Judge::Odd ? 2 : 4);
    for (const GroupReplay& each : report.groups) {
      EXPECT_DOUBLE_EQ(each.error.value(), 0);
      EXPECT_DOUBLE_EQ(each.measuredNs, 900);
      EXPECT_GT(each.nodes, 3);
    }
    EXPECT_DOUBLE_EQ(report.error, 0);
    EXPECT_DOUBLE_EQ(report.noise.value(), 0);
  }
}

TEST_F(Structures, WithoutBothParitiesInOneThereIsNothingToJudge) {
  const Rank made = rank(0);
  const auto queue = stream(made, 7);
  for (const auto* name : {"gemm", "conv", "gemm", "conv"})
    addStep(made, queue, {.kernel = name});
  const store::Database trace = open();
  const graph::TraceGraph graph = must(graph::readGraph(trace));
  const auto report = replayReport(trace, graph, Judge::Odd);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::NotFound);
  EXPECT_EQ(must(replayReport(trace, graph, Judge::Identity)).groups.size(), 2U);
}

TEST(StructuresOfJobs, DifferByTheNumberOfCollectives) {
  jobsim::Job job;
  job.machines = {{}};
  job.ranks = {{.machine = 0}, {.machine = 0}};
  job.groups = {{.name = "all", .ranks = {0, 1}, .link = {.latencyNs = 1000}}};
  for (const int rank : {0, 1}) {
    jobsim::Thread main{rank, "python3", {}};
    for (const int collectives : {1, 1, 2, 1}) {
      main.program.emplace_back(jobsim::Begin{jobsim::Scope::Iteration, "step"});
      for (int i = 0; i < collectives; ++i) {
        main.program.emplace_back(jobsim::Compute{"aten::mm", 10'000});
        main.program.emplace_back(jobsim::Meet{jobsim::Collective::Allreduce, 0, 1000});
      }
      main.program.emplace_back(jobsim::End{});
    }
    job.threads.push_back(std::move(main));
  }
  const test::SimulatedJob measured(job);
  EXPECT_THAT(structuresIn(measured.database(), measured.trace()), ElementsAre(0, 0, 1, 0));
}

// As a pool of threads that communicate.
TEST(StructuresOfJobs, DoNotDifferByTheThreadThatCommunicates) {
  jobsim::Job job;
  job.machines = {{}};
  job.ranks = {{.machine = 0}, {.machine = 0}};
  job.groups = {{.name = "all", .ranks = {0, 1}, .link = {.latencyNs = 1000}}};
  for (const int rank : {0, 1}) {
    const int done = 3 * rank + 2;
    job.queueLengths.insert(job.queueLengths.end(), {1, 1, 1});
    jobsim::Thread main{rank, "python3", {}};
    jobsim::Thread pool[] = {{rank, "gloo_0", {}}, {rank, "gloo_1", {}}};
    for (const int by : {0, 1, 0, 0, 1}) {
      main.program.emplace_back(jobsim::Begin{jobsim::Scope::Iteration, "step"});
      main.program.emplace_back(jobsim::Compute{"aten::mm", 10'000});
      main.program.emplace_back(jobsim::Put{3 * rank + by});
      main.program.emplace_back(jobsim::Take{done});
      main.program.emplace_back(jobsim::End{});
      pool[by].program.emplace_back(jobsim::Take{3 * rank + by});
      pool[by].program.emplace_back(jobsim::Meet{jobsim::Collective::Allreduce, 0, 1000});
      pool[by].program.emplace_back(jobsim::Put{done});
    }
    job.threads.push_back(std::move(main));
    job.threads.push_back(std::move(pool[0]));
    job.threads.push_back(std::move(pool[1]));
  }
  const test::SimulatedJob measured(job);
  EXPECT_THAT(structuresIn(measured.database(), measured.trace()), Each(0));
}

TEST(StructuresOfJobs, IterationsOfASimulatedJobHaveOne) {
  for (const jobsim::Job& job : {jobsim::dataParallelJob({}),
                                 jobsim::hostDataParallelJob({}),
                                 jobsim::loaderJob({}),
                                 jobsim::pipelineJob({}),
                                 jobsim::parameterServerJob({})}) {
    const test::SimulatedJob measured(job);
    EXPECT_THAT(structuresIn(measured.database(), measured.trace()), Each(0));
  }
}

}  // namespace
}  // namespace sonde::engine::replay
