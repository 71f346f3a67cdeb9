// Waits of host and device for each other, and the sampler's utilisation.
#include "analysis/engine/device/bound_time.h"

#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

#include <random>

namespace sonde::engine::device {
namespace {

using metrics::Interval;
using ::testing::SizeIs;

TEST(SampledUtilisation, IsOfThePeriodThatEnds) {
  const std::vector<SampledShare> samples = {{0, 0.9}, {100, 1}, {200, 0.5}, {400, 0}};
  EXPECT_DOUBLE_EQ(meanOf(samples, {{0, 400}}).value, (100 + 50 + 0) / 400.0);
  EXPECT_EQ(meanOf(samples, {{0, 400}}).ns, 400);
  EXPECT_DOUBLE_EQ(meanOf(samples, {{50, 150}}).value, (50 + 25) / 100.0);
  EXPECT_EQ(meanOf(samples, {{300, 900}}).ns, 100);
  EXPECT_EQ(meanOf(samples, {{500, 900}}).ns, 0);
  EXPECT_EQ(meanOf({{5, 1}}, {{0, 10}}).ns, 0);
}

TEST(Filled, IsWhatBlocksAtOnceCanBe) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Grid> grids;
    for (std::size_t i = random() % 8; i > 0; --i) {
      const auto begin = static_cast<std::int64_t>(random() % 50);
      grids.push_back({{begin, begin + static_cast<std::int64_t>(random() % 20)},
                       1 + static_cast<std::int64_t>(random() % 6)});
    }
    const Interval window{5, 45};
    double filled = 0;
    int length = 0;
    for (std::int64_t ns = window.begin; ns < window.end; ++ns) {
      std::int64_t blocks = 0;
      for (const Grid& grid : grids)
        blocks += grid.time.begin <= ns && ns < grid.time.end ? grid.blocks : 0;
      filled += std::min(static_cast<double>(blocks) / 4, 1.0);
      length += blocks > 0 ? 1 : 0;
    }
    const auto found = filledAtMost(grids, 4, {window});
    ASSERT_EQ(found.has_value(), length > 0);
    if (found) {
      ASSERT_NEAR(*found, filled / length, 1e-12);
    }
  }
}

//   ns        0    10   20   30   40   50   60   70   80   90  100
//   stream         kernel--------------|                            one block
//   stream                                       copy-|
//   main                sync-------------------------------|        20 to 90: the last 15 for
//   nothing
class BoundTimes : public test::DeviceTrace {
 protected:
  std::vector<BoundTime> read() {
    const store::Database trace = open();
    const auto ranks = test::must(metrics::readRanks(trace));
    return test::must(
        boundTimes(trace, ranks[0], test::must(readDevices(trace, ranks[0].processId))));
  }
  void work(const Rank& one) {
    const auto main = stream(one, 7);
    step(one, 0, {0, 100});
    model::Kernel row;
    row.work = DeviceTrace::work(main, "one_thread", {10, 45}, {});
    row.grid = {1, 1, 1};
    trace_->add(row);
    copy(main, "Memcpy DtoH", {65, 75}, 100);
  }
};

TEST_F(BoundTimes, DivideTheWindow) {
  const Rank one = rank(0);
  work(one);
  call(one, "cudaStreamSynchronize", {20, 90});
  call(one, "cudaLaunchKernel", {5, 8});
  const auto other = trace_->add(model::Thread{.processId = one.process, .tid = 5});
  trace_->slice(
      other, model::SliceKind::Api, "cudaStreamSynchronize", {0, 100});  // holds up no other thread
  const auto times = read();
  ASSERT_THAT(times, SizeIs(1));
  const BoundTime& time = times[0];
  EXPECT_EQ(time.device, "gpu 0");
  EXPECT_EQ(time.windowNs, 100);
  EXPECT_EQ(time.kernelNs, 35);
  EXPECT_EQ(time.busyNs, 45);
  EXPECT_TRUE(time.hostKnown);
  EXPECT_EQ(time.boundNs, 25 + 10);
  EXPECT_EQ(time.uselessNs, 70 - 35);
  EXPECT_EQ(time.overlapNs, 10);
  EXPECT_EQ(time.hostNs, 10 + 10);
  EXPECT_EQ(time.boundNs + time.uselessNs + time.overlapNs + time.hostNs, time.windowNs);
  EXPECT_EQ(time.sampledBusy, std::nullopt);
  EXPECT_EQ(time.filledAtMost, std::nullopt);  // whose name is unknown
}

TEST_F(BoundTimes, LeaveOutIterationsWithProbesOff) {
  const Rank one = rank(0);
  work(one);
  for (const std::int64_t number : {1, 2, 3})
    step(one, number, {100 * number, 100 * number + 100});
  call(one, "cudaStreamSynchronize", {20, 190});
  test::must(trace_->writer().database().exec(
      "UPDATE iteration SET probe_mask = iif(number = 1, 1, 3)"));  // nor does the next count
  const auto times = read();
  ASSERT_THAT(times, SizeIs(1));
  EXPECT_EQ(times[0].windowNs, 100 + 100);
  EXPECT_EQ(times[0].boundNs, 25 + 10);
  EXPECT_EQ(times[0].uselessNs, 80 - 35);
  EXPECT_EQ(times[0].hostNs, 10 + 100);
}

// Autograd's thread waits for the device, and the thread in backward waits for autograd's.
TEST_F(BoundTimes, ABackwardWaitsWithItsThreads) {
  const Rank one = rank(0);
  work(one);
  const auto autograd = trace_->add(model::Thread{.processId = one.process, .tid = 5});
  trace_->slice(one.thread, model::SliceKind::Backward, "backward", {30, 60});
  trace_->slice(autograd, model::SliceKind::Api, "cudaStreamSynchronize", {20, 50});
  const auto times = read();
  ASSERT_THAT(times, SizeIs(1));
  EXPECT_EQ(times[0].boundNs, 15);
  EXPECT_EQ(times[0].uselessNs, 5);
}

// RL-Scope's observation: the sampler reports 100 % for a kernel on a single multiprocessor.
TEST_F(BoundTimes, HaveTheSamplersUtilisationBesideThem) {
  Rank one = rank(0);
  one.device = trace_->add(
      model::Device{.hostId = host_, .kind = "gpu", .ordinal = 1, .name = "NVIDIA A100-SXM4-80GB"});
  work(one);
  const auto counter = trace_->add(model::Counter{
      .hostId = host_, .deviceId = one.device, .nameId = trace_->name("GPU busy"), .unit = "1"});
  for (const std::int64_t at : {-50, 50, 150})
    trace_->add(model::Sample{counter, at, 1});
  const auto times = read();
  ASSERT_THAT(times, SizeIs(1));
  EXPECT_EQ(times[0].sampledBusy, 1);
  EXPECT_EQ(times[0].sampledNs, 100);
  EXPECT_EQ(times[0].kernelNs, 35);
  ASSERT_TRUE(times[0].filledAtMost);
  EXPECT_DOUBLE_EQ(*times[0].filledAtMost, 1.0 / 108);
  EXPECT_FALSE(times[0].hostKnown);  // no call was recorded
}

// As in some of torch.profiler's files: then all threads count.
TEST_F(BoundTimes, KnowTheHostWhereAnotherProcessMarksIterations) {
  const Rank one = rank(0);
  const auto main = stream(one, 7);
  kernel(main, "gemm", {10, 45});
  call(one, "cudaStreamSynchronize", {20, 90});
  Rank marker = one;
  marker.process = trace_->add(model::Process{.hostId = host_, .pid = 9});
  marker.thread = trace_->add(model::Thread{.processId = marker.process, .tid = 9});
  step(marker, 0, {0, 100});
  const auto times = read();
  ASSERT_THAT(times, SizeIs(1));
  EXPECT_EQ(times[0].boundNs, 25);
}

TEST_F(BoundTimes, AreNoneOfARankWithoutDevices) {
  step(rank(0), 0, {0, 100});
  EXPECT_THAT(read(), SizeIs(0));
}

}  // namespace
}  // namespace sonde::engine::device
