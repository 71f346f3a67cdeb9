// Breakdowns of a range of time.
#include "tests/engine/breakdown/breakdown_fixture.h"

namespace sonde::engine::breakdown {
namespace {

class TimeRangeTest : public BreakdownTest {
 protected:
  // load 0 to 400 and train 400 to 1000 on the host; train's kernel from 500 to 700.
  void SetUp() override {
    BreakdownTest::SetUp();
    operation("load", {0, 400});
    kernel("gemm", {500, 700}, operation("train", {400, 1000}));
  }
  Parts within(std::int64_t begin, std::int64_t end) {
    return parts({.by = kByOperation, .within = metrics::Interval{begin, end}});
  }
};

TEST_F(TimeRangeTest, ClipsWhatCrossesABorder) {
  EXPECT_EQ(within(300, 600),
            (Parts{{"load: other", 100}, {"train: other", 100}, {"train: compute", 100}}));
}

TEST_F(TimeRangeTest, NeighbouringRangesHaveTheWhole) {
  Parts sum;
  for (const auto& [begin, end] : {std::pair(0, 450), std::pair(450, 650), std::pair(650, 1000)})
    for (const auto& [part, ns] : within(begin, end))
      sum[part] += ns;
  EXPECT_EQ(sum, parts({.by = kByOperation}));
}

TEST_F(TimeRangeTest, ThreadsAreClippedToo) {
  const Breakdown found = result({.by = {.thread = true}, .within = metrics::Interval{300, 600}});
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.rows[0].ns, 300);
}

TEST_F(TimeRangeTest, CountsWhatBecameActiveInIt) {
  const auto entered = [&](std::int64_t begin, std::int64_t end) {
    return result({.by = kByOperation, .within = metrics::Interval{begin, end}}).entered.size();
  };
  EXPECT_EQ(entered(420, 600), 1U);
  EXPECT_EQ(entered(720, 900), 0U);
}

TEST_F(TimeRangeTest, IsJobTime) {
  trace_.add(
      model::ClockMap{.hostId = model::HostId{1}, .fromNs = 0, .offsetNs = 10'000, .driftPpb = 0});
  EXPECT_EQ(within(10'300, 10'600),
            (Parts{{"load: other", 100}, {"train: other", 100}, {"train: compute", 100}}));
}

TEST_F(TimeRangeTest, LeavesOutProcessesOfOtherTimes) {
  const Breakdown found = result({.by = kByOperation, .within = metrics::Interval{300, 600}});
  ASSERT_EQ(found.processes.size(), 1U);
  EXPECT_EQ(found.processes[0].wallNs, 300);
  const auto none = breakDown(test::must(store::openTrace(path_)),
                              {.by = kByOperation, .within = metrics::Interval{2000, 3000}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::breakdown
