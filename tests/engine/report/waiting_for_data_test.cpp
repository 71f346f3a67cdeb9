// How much of a rank's idle time it waited for its data loader.
#include "analysis/engine/report/report.h"
#include "tests/engine/metrics/rank_trace.h"

namespace sonde::engine::report {
namespace {

using model::SliceKind;
using test::must;

class WaitingForData : public test::RankTrace {};

// Iterations of 100 ns: 30 load, 50 compute, and the rest is unknown.
TEST_F(WaitingForData, IsThatPartOfIdleTimeInWhichIterationsLoad) {
  const auto thread = process(0, 10);
  for (std::int64_t at = 0; at < 5; ++at) {
    iteration(thread, at, 100 * at, 100 * at + 100);
    trace_->slice(thread, SliceKind::DataLoad, "load", {100 * at, 100 * at + 30});
    trace_->slice(thread, SliceKind::Forward, "forward", {100 * at + 30, 100 * at + 80});
  }
  const JobReport report = must(readReport(open(), {}, {}));
  ASSERT_EQ(report.ranks.size(), 1U);
  EXPECT_EQ(report.ranks[0].time.computeNs, 250);
  EXPECT_EQ(report.ranks[0].time.idleNs, 250);
  EXPECT_EQ(report.ranks[0].idleLoadNs, 150);
}

}  // namespace
}  // namespace sonde::engine::report
