// Scalars and tensors over iterations.
#include "analysis/engine/training/scalars.h"
#include "analysis/engine/training/tensors.h"
#include "tests/engine/metrics/rank_trace.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

namespace sonde::engine::training {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class Training : public test::RankTrace {
 protected:
  void scalar(const char* name, model::OptionalInt iteration, double value, std::int64_t ns) {
    trace_->add(model::Scalar{.processId = process_,
                              .iteration = iteration,
                              .nameId = trace_->name(name),
                              .value = value,
                              .tsNs = ns});
  }
  void tensor(std::int64_t iteration, std::string histogram, double p01 = 0, double p99 = 4) {
    model::Tensor row;
    row.processId = process_;
    row.iteration = iteration;
    row.nameId = trace_->name("w");
    row.collection = "weights";
    row.tsNs = 100 * iteration + 7;
    row.elements = 10;
    row.nans = 1;
    row.mean = 2;
    row.quantiles.front() = p01;
    row.quantiles.back() = p99;
    row.histogram = std::move(histogram);
    trace_->add(row);
  }
};

TEST_F(Training, HasScalarsByProcessAndIteration) {
  const auto one = process(0, 10);
  iteration(one, 0, 0, 100);
  iteration(one, 1, 100, 250);
  scalar("loss", 0, 2.5, 50);
  scalar("loss", 1, std::nan(""), 150);
  scalar("rate", 1, 0.1, 150);
  iteration(process(1, 11), 0, 0, 120);
  scalar("loss", 0, 2.25, 60);
  const auto trace = open();
  const auto ranks = must(metrics::readRanks(trace));
  EXPECT_THAT(must(scalarNames(trace)), ElementsAre("loss", "rate"));
  const auto series = must(scalarSeries(trace, ranks, "loss"));
  ASSERT_THAT(series, SizeIs(2));
  EXPECT_EQ(series[0].process, "rank 0");
  ASSERT_THAT(series[0].points, SizeIs(2));
  EXPECT_EQ(series[0].points[0].value, 2.5);
  EXPECT_TRUE(std::isnan(series[0].points[1].value));
  EXPECT_EQ(series[0].points[1].time, (metrics::Interval{100, 250}));
  EXPECT_EQ(series[1].rank, 1);
  const auto times = must(iterationSeries(trace, ranks));
  ASSERT_THAT(times, SizeIs(2));
  EXPECT_EQ(times[0].points[1].value, 150);
  EXPECT_EQ(times[0].points[1].iteration, 1);
}

TEST_F(Training, ARepeatedNumberIsTheIterationOfItsTime) {
  const auto one = process(0, 10);
  iteration(one, 0, 0, 100);
  iteration(one, 0, 100, 250);
  scalar("loss", 0, 2.5, 50);
  scalar("loss", 0, 1.5, 150);
  tensor(0, "[]");
  const auto trace = open();
  const auto series = must(scalarSeries(trace, must(metrics::readRanks(trace)), "loss"));
  ASSERT_THAT(series, SizeIs(1));
  ASSERT_THAT(series[0].points, SizeIs(2));
  EXPECT_EQ(series[0].points[0].time, (metrics::Interval{0, 100}));
  EXPECT_EQ(series[0].points[1].time, (metrics::Interval{100, 250}));
}

TEST_F(Training, AScalarOutsideOfIterationsKeepsItsTime) {
  process(0, 10);
  scalar("loss", {}, 1, 50);
  scalar("loss", {}, 2, 70);
  const auto trace = open();
  const auto series = must(scalarSeries(trace, must(metrics::readRanks(trace)), "loss"));
  ASSERT_THAT(series, SizeIs(1));
  EXPECT_EQ(series[0].points[1].iteration, 1);
  EXPECT_EQ(series[0].points[1].time, (metrics::Interval{70, 70}));
}

TEST_F(Training, DerivesRatesFromReportedSamples) {
  process(0, 10);
  trace_->add(model::Iteration{
      .processId = process_, .number = 0, .startNs = 0, .durNs = 500'000'000, .samples = 32});
  const auto trace = open();
  EXPECT_THAT(must(scalarNames(trace)), ElementsAre(std::string(kSamplesPerSecond)));
  const auto series =
      must(scalarSeries(trace, must(metrics::readRanks(trace)), std::string(kSamplesPerSecond)));
  ASSERT_THAT(series, SizeIs(1));
  EXPECT_DOUBLE_EQ(series[0].points[0].value, 64);
}

TEST_F(Training, PutsHistogramsOnACommonAxis) {
  iteration(process(0, 10), 0, 0, 100);
  tensor(0, "[[0,4],[1,0],[3,4],[4,0]]");  // half in 0 … 1, half in 3 … 4
  tensor(1, "[[0,8],[4,0]]");
  tensor(2, "broken");
  tensor(3, "[[5,1],[1,0]]");  // not rising
  const auto trace = open();
  const auto names = must(tensorNames(trace, must(metrics::readRanks(trace))));
  ASSERT_THAT(names, SizeIs(1));
  EXPECT_EQ(names[0].count, 4);
  EXPECT_EQ(names[0].elements, 10);
  EXPECT_EQ(names[0].process, "rank 0");
  const auto points = must(tensorPoints(trace, names[0]));
  ASSERT_THAT(points, SizeIs(4));
  EXPECT_EQ(points[0].time, (metrics::Interval{0, 100}));
  EXPECT_EQ(points[1].time, (metrics::Interval{107, 107}));
  EXPECT_EQ(points[0].notFinite, 1);
  EXPECT_TRUE(points[2].histogram.empty());
  EXPECT_TRUE(points[3].histogram.empty());
  const Ridges ridges = ridgesOf(points, 10, 44);
  EXPECT_THAT(ridges.points, ElementsAre(0, 1));
  EXPECT_NEAR(ridges.low, -0.2, 1e-9);
  EXPECT_NEAR(ridges.high, 4.2, 1e-9);
  for (const auto& ridge : ridges.density)
    EXPECT_NEAR(std::accumulate(ridge.begin(), ridge.end(), 0.0), 1, 1e-9);
  // A bin is 0.1 wide: the first two are below 0.
  EXPECT_NEAR(ridges.density[0][0], 0, 1e-9);
  EXPECT_NEAR(ridges.density[0][5], 0.05, 1e-9);
  EXPECT_NEAR(ridges.density[0][20], 0, 1e-9);
  EXPECT_NEAR(ridges.density[1][20], 0.025, 1e-9);
}

TEST_F(Training, TakesEvenlySpacedRidges) {
  iteration(process(0, 10), 0, 0, 100);
  for (int number = 0; number < 9; ++number)
    tensor(number, "[[1,5],[1,0]]", 1, 1);
  const auto trace = open();
  const auto points =
      must(tensorPoints(trace, must(tensorNames(trace, must(metrics::readRanks(trace))))[0]));
  const Ridges ridges = ridgesOf(points, 3, 10);
  EXPECT_THAT(ridges.points, ElementsAre(0, 4, 8));
  EXPECT_NEAR(std::accumulate(ridges.density[0].begin(), ridges.density[0].end(), 0.0), 1, 1e-9);
  EXPECT_TRUE(ridgesOf({}, 3, 10).points.empty());
}

}  // namespace
}  // namespace sonde::engine::training
