#include "recorder/microbench/measure_loopback.h"
#include "recorder/microbench/measure_processor.h"

#include <gtest/gtest.h>

namespace sonde::recorder::microbench {
namespace {

using namespace std::chrono_literals;

TEST(MeasuredTime, IsTheFirstQuartileOfItsRuns) {
  std::vector<double> times;
  for (int at = 40; at >= 0; --at)
    times.push_back(at);
  const MeasuredTime found = summaryOf(times);
  EXPECT_EQ(found.ns, 10);
  EXPECT_EQ(found.lowNs, 4);
  EXPECT_EQ(found.highNs, 36);
  EXPECT_EQ(found.runs, 41);
  EXPECT_EQ(summaryOf({7}).highNs, 7);
}

TEST(MeasuredTime, HasThreeRunsAndMore) {
  int runs = 0;
  EXPECT_EQ(measure(0ns, [&] { ++runs; }).runs, 3);
  EXPECT_EQ(runs, 4) << "the first one does not count";
}

TEST(MeasureProcessor, KnowsTheWorkOfWhatItMeasures) {
  const auto products = measureProducts(0ns);
  ASSERT_EQ(products.size(), 10U);
  EXPECT_EQ(products[6].what, "8 x 512 x 1024");
  EXPECT_EQ(products[6].work.flops, 2.0 * 8 * 512 * 1024);
  EXPECT_EQ(products[6].work.bytes, 4.0 * (8 * 512 + 512 * 1024 + 8 * 1024));
  const auto copies = measureCopies(0ns);
  ASSERT_EQ(copies.size(), 8U);
  EXPECT_EQ(copies.back().work.bytes, 2.0 * (64 << 20));
  for (const MeasuredWork& each : copies)
    EXPECT_GT(each.time.ns, 0);
}

TEST(MeasureLoopback, SendsMessagesBothWays) {
  const auto found = measureLoopback(0ns);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 9U);
  EXPECT_EQ(found->front().bytes, 64);
  EXPECT_EQ(found->back().bytes, 4 << 20);
  for (const MeasuredMessage& each : *found)
    EXPECT_GT(each.time.ns, 0);
}

}  // namespace
}  // namespace sonde::recorder::microbench
