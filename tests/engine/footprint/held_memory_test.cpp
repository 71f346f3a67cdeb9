#include "analysis/engine/footprint/held_memory.h"

#include "analysis/engine/footprint/memory_rows.h"
#include "analysis/engine/memory/memory_use.h"
#include "tests/engine/replay/simulated_job.h"
#include "tests/jobsim/workloads.h"
#include "tests/support/device_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::footprint {
namespace {

using metrics::MemoryLevel;
using test::SimulatedJob;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<HeldMemory> heldAt(const store::Database& trace,
                               const graph::TraceGraph& graph,
                               const critical::Times& times) {
  return heldMemory(test::must(metrics::readMemoryLogs(trace)),
                    graph,
                    test::must(align::JobClock::read(trace)),
                    times);
}

std::vector<HeldMemory> heldAsMeasured(const store::Database& trace,
                                       const graph::TraceGraph& graph) {
  return heldAt(trace, graph, {graph.graph.beginNs, graph.graph.durNs});
}

// The same as `sonde report` has.
void expectTheUses(const store::Database& trace, const std::vector<HeldMemory>& held) {
  const auto uses = test::must(metrics::memoryUses(trace, test::must(metrics::readRanks(trace))));
  ASSERT_EQ(held.size(), uses.size());
  const auto rows = test::must(memoryRows(trace, held));
  for (std::size_t at = 0; at < uses.size(); ++at) {
    EXPECT_EQ(rows[at].rank, uses[at].rank);
    EXPECT_EQ(rows[at].process, uses[at].process);
    EXPECT_EQ(rows[at].place, uses[at].place);
    EXPECT_EQ(rows[at].allocator, uses[at].allocator);
    EXPECT_EQ(held[at].baseBytes, uses[at].baseBytes);
    EXPECT_EQ(held[at].peak, uses[at].peak);
    EXPECT_EQ(held[at].series, uses[at].series);
    EXPECT_EQ(held[at].iteration, uses[at].peakIteration);
  }
}

class HeldMemoryOfTrace : public test::DeviceTrace {
 protected:
  void block(std::int64_t bytes, Span time, model::SliceId scope, model::DeviceId device = {}) {
    trace_->add(model::Allocation{.processId = one_.process,
                                  .threadId = device ? model::ThreadId() : one_.thread,
                                  .deviceId = device,
                                  .allocator = model::Allocator::Torch,
                                  .address = next_++ * 4096,
                                  .bytes = bytes,
                                  .allocNs = time.first,
                                  .freeNs = time.second,
                                  .scopeId = scope});
  }
  // A mark of torch.profiler.
  void mark(std::int64_t ns, std::int64_t address, std::int64_t bytes, std::int64_t total) {
    const auto id = trace_->slice(one_.thread, model::SliceKind::Mark, "[memory]", {ns, ns});
    const std::string json = fmt::format(
        R"({{"Total Allocated": {}, "Bytes": {}, "Addr": {}, "Device Id": 0, "Device Type": 1}})",
        total,
        bytes,
        address);
    trace_->add(model::Arg{.owner = model::Owner::Slice,
                           .ownerId = id.value,
                           .keyId = trace_->name("args"),
                           .value = json});
  }

  Rank one_ = rank(0);
  std::int64_t next_ = 1;
};

TEST_F(HeldMemoryOfTrace, IsTheMeasuredOneAtTheMeasuredTimes) {
  step(one_, 7, {10, 100});
  const auto forward = trace_->slice(one_.thread, model::SliceKind::Forward, "forward", {10, 40});
  const auto linear =
      trace_->slice(one_.thread, model::SliceKind::Module, "linear", {14, 24}, forward);
  block(100, {18, 78}, linear);
  block(400, {20, 30}, linear);
  block(50, {30, 90}, forward);
  block(70, {12, 95}, forward, one_.device);
  stream(one_, 7);
  mark(15, 16, 100, 1100);
  mark(20, 32, -300, 800);  // held before the first mark
  mark(25, 16, -100, 700);
  const store::Database trace = open();
  const auto graph = test::must(graph::readGraph(trace));
  const std::vector<HeldMemory> held = heldAsMeasured(trace, graph);
  EXPECT_THAT(held, SizeIs(2));
  expectTheUses(trace, held);
}

TEST_F(HeldMemoryOfTrace, NamesTheOperationThatReachesThePeak) {
  step(one_, 7, {10, 100});
  const auto forward = trace_->slice(one_.thread, model::SliceKind::Forward, "forward", {10, 40});
  const auto linear =
      trace_->slice(one_.thread, model::SliceKind::Module, "linear", {14, 24}, forward);
  block(100, {18, 78}, linear);
  block(20, {40, 50}, {});
  block(10, {60, 90}, forward);
  const store::Database trace = open();
  const auto graph = test::must(graph::readGraph(trace));
  const auto rows = test::must(memoryRows(trace, heldAsMeasured(trace, graph)));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].peakBytes, 120);
  EXPECT_EQ(rows[0].iteration, 7);
  EXPECT_EQ(rows[0].operation, "");
}

// Two threads of a rank, each with a block:
//
//   ms    0  1  2  3  4  5  6
//   one   |a––|block0|
//   two   |b–––––––––––|block1|
//
// A third one waits for the end of b, so that b is a node of its own.
jobsim::Job twoThreads(jobsim::Ns b) {
  jobsim::Job job;
  job.machines = {{.name = "h"}};
  job.ranks = {{.machine = 0}};
  job.queueLengths = {1};
  const auto thread = [&](const std::string& name, jobsim::Ns before, int block) {
    return jobsim::Thread{0,
                          name,
                          {jobsim::Begin{jobsim::Scope::Operation, name},
                           jobsim::Compute{"before_" + name, before},
                           block == 0 ? jobsim::Op(jobsim::Sleep{"none", 0}) : jobsim::Put{0},
                           jobsim::Allocate{block, 100 + 70 * block},
                           jobsim::Compute{"hold", 2'000'000},
                           jobsim::Free{block},
                           jobsim::Compute{"after", 1'000'000},
                           jobsim::End{}}};
  };
  job.threads = {thread("one", 1'000'000, 0),
                 thread("two", b, 1),
                 {0, "three", {jobsim::Take{0}, jobsim::Compute{"go on", 1'000'000}}}};
  return job;
}

TEST(HeldMemory, OfThreadsThatOverlapMoreIsHigher) {
  const SimulatedJob job(twoThreads(4'000'000));
  const graph::Graph& graph = job.graph();
  const auto measured = heldAsMeasured(job.database(), job.trace());
  expectTheUses(job.database(), measured);
  ASSERT_THAT(measured, SizeIs(1));
  EXPECT_EQ(measured[0].peak.bytes, 170);

  const std::vector<std::int64_t> durations = job.scaled({"before_two"}, 50);
  const std::vector<std::int64_t> begins = replay::replay(graph, {durations, graph.gapNs});
  const auto faster = heldAt(job.database(), job.trace(), {begins, durations});
  const std::int64_t start = 1'000'000'000;
  EXPECT_THAT(faster[0].series,
              ElementsAre(MemoryLevel{start + 1'000'000, 100},
                          MemoryLevel{start + 2'000'000, 270},
                          MemoryLevel{start + 3'000'000, 170},
                          MemoryLevel{start + 4'000'000, 0}));
  EXPECT_EQ(faster[0].peak, (MemoryLevel{start + 2'000'000, 270}));
  EXPECT_EQ(test::must(memoryRows(job.database(), faster))[0].operation, "two");

  const SimulatedJob truth(twoThreads(2'000'000));
  EXPECT_EQ(faster[0].series, heldAsMeasured(truth.database(), truth.trace())[0].series);
}

// The whole of the first thread is one node: before, hold and after. With half its time each
// instant comes after half its time.
TEST(HeldMemory, KeepsItsPlaceInANode) {
  const SimulatedJob job(twoThreads(4'000'000));
  const graph::Graph& graph = job.graph();
  std::vector<std::int64_t> durations = graph.durNs;
  for (graph::NodeIndex node = 0; node < graph.nodes(); ++node)
    if (graph.lanes[graph.lane[node]].name.ends_with("one"))
      durations[node] /= 2;
  const std::vector<std::int64_t> begins = replay::replay(graph, {durations, graph.gapNs});
  const auto faster = heldAt(job.database(), job.trace(), {begins, durations});
  const std::int64_t start = 1'000'000'000;
  EXPECT_THAT(faster[0].series,
              ElementsAre(MemoryLevel{start + 500'000, 100},
                          MemoryLevel{start + 1'500'000, 0},
                          MemoryLevel{start + 4'000'000, 170},
                          MemoryLevel{start + 6'000'000, 0}));
}

// Activations of layers, also on a host whose clock differs.
TEST(HeldMemory, OfSimulatedJobsIsTheMeasuredOne) {
  jobsim::DataParallel parallel;
  parallel.activationBytes = 1000;
  jobsim::Job job = jobsim::hostDataParallelJob(parallel);
  job.machines[1].offsetNs = 7'000'000;
  job.machines[1].driftPpb = 30'000;
  const SimulatedJob measured(job);
  const auto held = heldAsMeasured(measured.database(), measured.trace());
  ASSERT_THAT(held, SizeIs(parallel.ranks));
  expectTheUses(measured.database(), held);
  for (const HeldMemory& each : held)
    EXPECT_EQ(each.peak.bytes, 1000 * parallel.layers);
}

}  // namespace
}  // namespace sonde::engine::footprint
