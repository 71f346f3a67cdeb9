#include "analysis/engine/metrics/throughput.h"

#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

namespace sonde::engine::metrics {
namespace {

using test::must;

TEST(PeakFlops, AreFoundByName) {
  EXPECT_EQ(peakFlopsOf("NVIDIA H100 80GB HBM3"), 989.4e12);
  EXPECT_EQ(peakFlopsOf("NVIDIA H100 PCIe"), 756e12);
  EXPECT_EQ(peakFlopsOf("NVIDIA A100-SXM4-80GB"), 312e12);
  EXPECT_EQ(peakFlopsOf("Tesla V100-SXM2-16GB"), 125e12);
  EXPECT_EQ(peakFlopsOf("NVIDIA L4"), 121e12);
  EXPECT_EQ(peakFlopsOf("NVIDIA L40S"), 362.1e12);
  EXPECT_EQ(peakFlopsOf("NVIDIA GeForce RTX 4090"), 165.2e12);
  EXPECT_EQ(peakFlopsOf("NVIDIA H100 NVL"), 835e12);
  EXPECT_EQ(multiprocessorsOf("NVIDIA H100 NVL"), 132);
  EXPECT_EQ(peakFlopsOf("NVIDIA A1000"), std::nullopt);
  EXPECT_EQ(peakFlopsOf(""), std::nullopt);
}

class ThroughputOf : public testing::Test {
 protected:
  Throughput of(const std::vector<model::Iteration>& rows, std::optional<double> peak = {}) {
    {
      test::TraceBuilder trace(path_);
      trace.add(model::Host{{}, "host"});
      model::Process process;
      process.hostId = model::HostId{1};
      trace.add(process);
      for (model::Iteration row : rows) {
        row.processId = model::ProcessId{1};
        trace.add(row);
      }
      trace.finish();
    }
    const auto trace = must(store::openTrace(path_));
    const RankProcess rank = must(readRanks(trace)).at(0);
    return throughputOf(rank, must(workOf(trace, rank, peak)));
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "a.sonde";
};

model::Iteration second(std::int64_t number) {
  model::Iteration row;
  row.number = number;
  row.startNs = number * 1'000'000'000;
  row.durNs = 1'000'000'000;
  return row;
}

TEST_F(ThroughputOf, CountsOnlyIterationsOfWhichItIsKnown) {
  auto rows = {second(0), second(1), second(2)};
  std::vector<model::Iteration> all(rows);
  all[0].samples = 10;
  all[2].samples = 30;
  all[1].flops = 5e12;
  const Throughput found = of(all, 20e12);
  EXPECT_EQ(found.iterations, 3);
  EXPECT_EQ(found.samplesPerSecond, 20);
  EXPECT_EQ(found.tokensPerSecond, std::nullopt);
  EXPECT_EQ(found.flopsPerSecond, 5e12);
  EXPECT_EQ(found.mfu, 0.25);
}

TEST_F(ThroughputOf, IsThatOfTheIterationsThatTheReportAverages) {
  std::vector<model::Iteration> all = {second(0), second(1), second(2), second(3)};
  for (model::Iteration& row : all) {
    const bool isFull = row.number == 0 || row.number == 3;  // the third is first after a switch
    row.probeMask = row.number == 1 ? 1 : 5;
    row.tokens = isFull ? 100 : 700;
  }
  const Throughput found = of(all);
  EXPECT_EQ(found.iterations, 2);
  EXPECT_EQ(found.tokensPerSecond, 100);
}

TEST_F(ThroughputOf, WorkOfIterationsWithinAnotherIsItsUnlessItHasItsOwn) {
  std::vector<model::Iteration> all = {second(0), second(1), second(0), second(1), second(1)};
  for (std::size_t at = 2; at < all.size(); ++at)
    all[at].durNs = 100'000'000;
  all[4].startNs += 500'000'000;
  for (model::Iteration& row : all)
    row.flops = 1e12;
  all[2].samples = 10;
  all[3].samples = 20;
  all[4].samples = 30;
  const Throughput found = of(all);
  EXPECT_EQ(found.iterations, 2);
  EXPECT_EQ(found.samplesPerSecond, 30);
  EXPECT_EQ(found.flopsPerSecond, 1e12);
}

// An iteration of a second, two inside it, and two inside each of these.
TEST_F(ThroughputOf, OfSeveralLevelsIsThatOfTheFirstThatTells) {
  std::vector<model::Iteration> all = {second(0)};
  for (std::int64_t batch = 0; batch < 2; ++batch) {
    all.push_back({.startNs = batch * 500'000'000, .durNs = 400'000'000});
    if (batch == 0)
      all.back().samples = 32;
    for (std::int64_t micro = 0; micro < 2; ++micro)
      all.push_back({.startNs = batch * 500'000'000 + micro * 100'000'000,
                     .durNs = 100'000'000,
                     .samples = 8,
                     .tokens = 3});
  }
  const Throughput found = of(all);
  EXPECT_EQ(found.iterations, 1);
  EXPECT_EQ(found.samplesPerSecond, 32 + 2 * 8) << "the second batch tells none";
  EXPECT_EQ(found.tokensPerSecond, 4 * 3);
}

// Each second has 10 samples; recording took 200 ms of it.
TEST_F(ThroughputOf, IsByTheClock) {
  {
    test::TraceBuilder trace(path_);
    const auto host = trace.add(model::Host{{}, "host"});
    const auto process = trace.add(model::Process{.hostId = host});
    const auto thread = trace.add(model::Thread{.processId = process, .tid = 1});
    const auto work = [&](std::int64_t at) {
      trace.slice(thread, model::SliceKind::Operation, "work", {at, at + 500'000'000}, {}, "nvtx");
    };
    for (std::int64_t number = 0; number < 3; ++number) {
      model::Iteration row = second(number);
      row.processId = process;
      row.samples = 10;
      trace.add(row);
      work(row.startNs);
    }
    work(3'000'000'000);
    trace.add(model::Overhead{.probe = "nvtx",
                              .api = "scope",
                              .meanNs = 2e8,
                              .errorNs = 0,
                              .method = "micro-loop",
                              .beforeNs = 0,
                              .insideNs = 2e8});
    trace.finish();
  }
  const auto trace = must(store::openTrace(path_));
  const RankProcess rank = must(readRanks(trace)).at(0);
  const Clocks clocks = must(Clocks::read(trace, nullptr));
  const RankWork work = must(workOf(trace, rank, {}));
  EXPECT_EQ(throughputOf(rank, work, clocks.best()).samplesPerSecond, 12.5);
  EXPECT_EQ(throughputOf(rank, work).samplesPerSecond, 10);
}

TEST_F(ThroughputOf, HasNoMfuWithoutAPeak) {
  std::vector<model::Iteration> all = {second(0)};
  all[0].flops = 5e12;
  const Throughput found = of(all);
  EXPECT_EQ(found.peakFlops, std::nullopt);
  EXPECT_EQ(found.mfu, std::nullopt);
}

}  // namespace
}  // namespace sonde::engine::metrics
