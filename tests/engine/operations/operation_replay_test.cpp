#include "analysis/engine/operations/operation_replay.h"

#include "tests/engine/operations/operation_jobs.h"

#include <cmath>

namespace sonde::engine::operations {
namespace {

using Type = model::OperationType;

TEST(OperationReplay, JudgesTheReplayWithoutDelays) {
  Job job(1, 2);
  for (const std::int64_t at : {0, 1000}) {
    if (at > 0)
      job.nextStep();
    job.add(0, Type::Forward, {at, at + 10});
    job.add(0, Type::ForwardSend, {at + 14, at + 15});
    job.add(1, Type::ForwardReceive, {at + 14, at + 16});
    job.add(1, Type::Forward, {at + 16, at + (at == 0 ? 40 : 20)});
  }
  const auto found = replayOperations(job.graph());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->iterations, 2);
  EXPECT_DOUBLE_EQ(found->measuredNs, 30'000);  // 40 and 20
  EXPECT_DOUBLE_EQ(found->replayedNs, 26'000);  // each 4 less
  EXPECT_DOUBLE_EQ(found->error, -(0.1 + 0.2) / 2);
  EXPECT_NEAR(found->standardError, 0.05, 1e-12);
  EXPECT_NEAR(found->noise, std::sqrt(200.0) / 30, 1e-12);
  EXPECT_DOUBLE_EQ(found->gapShare, 8.0 / 60);
  ASSERT_EQ(found->ranks.size(), 2U);
  EXPECT_DOUBLE_EQ(found->ranks[0].measuredNs, 15'000);
  EXPECT_DOUBLE_EQ(found->ranks[0].replayedNs, 11'000);
  EXPECT_DOUBLE_EQ(found->ranks[1].replayedNs, 26'000);
}

TEST(OperationReplay, NeedsOperationsThatTakeTime) {
  Job job(1, 1);
  job.add(0, Type::Forward, {0, 0});
  EXPECT_FALSE(replayOperations(job.graph()));
}

}  // namespace
}  // namespace sonde::engine::operations
