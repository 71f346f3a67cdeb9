#include "tests/rules/rule_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct Part {
  std::int64_t seq = 0;
  model::CollectiveOp op = model::CollectiveOp::Allreduce;
  std::int64_t bytes = 1000;
  model::DataType dtype = model::DataType::Float32;
  model::OptionalInt root{};
};

class CollectiveRules : public test::RuleTrace {
 protected:
  void ranks(int count) {
    for (int number = 0; number < count; ++number) {
      ranks_.push_back(rank(number));
      groups_.push_back(trace_->add(model::Communicator{.processId = ranks_.back().process,
                                                        .jobKey = "world",
                                                        .size = count,
                                                        .position = number}));
    }
  }
  void call(int number, const Part& part, std::int64_t beginNs = 0, std::int64_t durNs = 100) {
    model::Collective row;
    row.processId = ranks_[static_cast<std::size_t>(number)].process;
    row.communicatorId = groups_[static_cast<std::size_t>(number)];
    row.seq = part.seq;
    row.op = part.op;
    row.dtype = part.dtype;
    row.bytes = part.bytes;
    row.root = part.root;
    row.startNs = beginNs;
    row.durNs = durNs;
    trace_->add(row);
  }
  std::vector<std::string> entities(const std::vector<CheckResult>& results) {
    std::vector<std::string> names;
    for (const CheckResult& each : results) {
      EXPECT_EQ(each.outcome.verdict, Verdict::Fired);
      names.push_back(each.entity);
    }
    return names;
  }
  std::vector<Rank> ranks_;
  std::vector<model::CommunicatorId> groups_;
};

TEST_F(CollectiveRules, EqualPartsAgree) {
  ranks(3);
  for (int seq = 0; seq < 4; ++seq)
    for (int number = 0; number < 3; ++number)
      call(number, {.seq = seq});
  const CheckResult result = judge("collective-mismatch");
  EXPECT_EQ(result.outcome.verdict, Verdict::Pass);
  EXPECT_EQ(result.outcome.samples, 4);
}

TEST_F(CollectiveRules, TheRankWithAnotherSizeIsNamed) {
  ranks(3);
  for (int number = 0; number < 3; ++number)
    call(number, {.seq = 5, .bytes = number == 1 ? 500 : 1000});
  const auto results = judgeAll("collective-mismatch");
  EXPECT_THAT(entities(results), ElementsAre("rank 1"));
  EXPECT_THAT(
      results[0].outcome.message,
      HasSubstr("the size of collective 5 of group world differs: 1000 bytes on rank 0, rank "
                "2, 500 bytes on rank 1"));
}

TEST_F(CollectiveRules, AnotherTypeAnotherRootAndAnotherOperationAreNamed) {
  ranks(3);
  for (int number = 0; number < 3; ++number)
    call(number,
         {.seq = 1, .dtype = number == 2 ? model::DataType::Float16 : model::DataType::Float32},
         10);
  EXPECT_THAT(entities(judgeAll("collective-mismatch")), ElementsAre("rank 2"));
}

TEST_F(CollectiveRules, AnotherRootIsNamed) {
  ranks(3);
  for (int number = 0; number < 3; ++number)
    call(number, {.seq = 1, .op = model::CollectiveOp::Broadcast, .root = number == 0 ? 1 : 0});
  const auto results = judgeAll("collective-mismatch");
  EXPECT_THAT(entities(results), ElementsAre("rank 0"));
  EXPECT_THAT(results[0].outcome.message, HasSubstr("the root of collective 1"));
}

// The other size follows from the other operation: it is not the finding.
TEST_F(CollectiveRules, AnotherOperationIsNamedFirst) {
  ranks(4);
  for (int number = 0; number < 4; ++number)
    call(number,
         number == 3 ? Part{.seq = 1, .op = model::CollectiveOp::Broadcast, .bytes = 4}
                     : Part{.seq = 1});
  const auto results = judgeAll("collective-mismatch");
  EXPECT_THAT(entities(results), ElementsAre("rank 3"));
  EXPECT_THAT(
      results[0].outcome.message,
      HasSubstr("the operation of collective 1 of group world differs: allreduce on rank 0, "
                "rank 1, rank 2, broadcast on rank 3"));
}

TEST_F(CollectiveRules, WithoutAMajorityAllAreNamed) {
  ranks(2);
  call(0, {.bytes = 8});
  call(1, {.bytes = 16});
  EXPECT_THAT(entities(judgeAll("collective-mismatch")), ElementsAre("rank 0", "rank 1"));
}

TEST_F(CollectiveRules, AnUnknownTypeIsNoMismatch) {
  ranks(2);
  call(0, {.dtype = model::DataType::Unknown});
  call(1, {.dtype = model::DataType::Float32});
  EXPECT_EQ(judge("collective-mismatch").outcome.verdict, Verdict::Pass);
}

TEST_F(CollectiveRules, OneRankCannotMismatch) {
  ranks(2);
  call(0, {});
  EXPECT_EQ(verdict("collective-mismatch"), Verdict::Insufficient);
}

TEST_F(CollectiveRules, SmallMessagesCountAnIteration) {
  ranks(2);
  for (int number = 0; number < 2; ++number) {
    const Rank& one = ranks_[static_cast<std::size_t>(number)];
    for (int i = 0; i < 4; ++i) {
      step(one, i, {10'000 * i, 10'000 * i + 10'000});
      for (int k = 0; k < 5; ++k)
        call(number, {.seq = 5 * i + k, .bytes = 100}, 10'000 * i + 200 * k, 100);
    }
  }
  const test::Settings few = {{"max_per_iteration", 4.0}, {"small_bytes", std::int64_t{101}}};
  const auto fired = judgeAll("small-messages", few);
  ASSERT_THAT(fired, SizeIs(2));
  EXPECT_EQ(fired[0].outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired[0].outcome.value, 5);
  EXPECT_EQ(judgeAll("small-messages", {{"max_per_iteration", 5.0}})[0].outcome.verdict,
            Verdict::Pass);
  EXPECT_EQ(judgeAll("small-messages",
                     {{"max_per_iteration", 4.0}, {"small_bytes", std::int64_t{100}}})[0]
                .outcome.verdict,
            Verdict::Pass);
}

// Three ranks meet once an iteration of 1000 ns; `late` comes by `lagNs` later from `from` on.
class LateRank : public CollectiveRules {
 protected:
  void run(int iterations, int late, int from, std::int64_t lagNs) {
    ranks(3);
    for (int i = 0; i < iterations; ++i)
      for (int number = 0; number < 3; ++number) {
        const std::int64_t at = 1000 * i;
        step(ranks_[static_cast<std::size_t>(number)], i, {at, at + 1000});
        const bool isLate = number == late && i >= from;
        const std::int64_t jitter = (7 * i + 3 * number) % 5;
        const std::int64_t begin = at + 300 + jitter + (isLate ? lagNs : 0);
        call(number, {.seq = i}, begin, at + 800 - begin);
      }
  }
};

TEST_F(LateRank, IsNamedWithinThreeIterations) {
  run(23, 1, 20, 200);
  const CheckResult fired = judge("late-rank");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(fired.entity, "rank 1");
  EXPECT_NEAR(*fired.outcome.value, 0.2, 0.01);
  EXPECT_EQ(fired.outcome.window, "iterations 20-22");
  EXPECT_EQ(verdict("late-rank", {{"max_share", 0.21}}), Verdict::Pass);
  EXPECT_EQ(verdict("late-rank", {{"iterations", std::int64_t{4}}}), Verdict::Pass);
}

TEST_F(LateRank, ChanceIsNone) {
  run(40, -1, 0, 0);
  EXPECT_EQ(verdict("late-rank", {{"max_share", 0.0}}), Verdict::Pass);
}

TEST_F(LateRank, TwoIterationsAreInsufficient) {
  run(2, 1, 0, 200);
  EXPECT_EQ(verdict("late-rank"), Verdict::Insufficient);
}

// Each iteration of 1000 ns computes for 400 and communicates for `commNs`, from `beginNs` on.
class ExposedCommunication : public test::RuleTrace {
 protected:
  void run(std::int64_t beginNs, std::int64_t commNs) {
    const Rank one = rank(0);
    const auto compute = stream(one, 7);
    const auto communicate = stream(one, 8);
    for (int i = 0; i < 10; ++i) {
      const std::int64_t at = 1000 * i;
      step(one, i, {at, at + 1000});
      kernel(compute, "gemm", {at, at + 400});
      kernel(communicate, "ncclDevKernel_AllReduce", {at + beginNs, at + beginNs + commNs});
    }
  }
};

TEST_F(ExposedCommunication, FiresAboveTheShare) {
  run(400, 350);
  const CheckResult fired = judge("communication-bound");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0.35);
  EXPECT_EQ(verdict("communication-bound", {{"max_share", 0.35}}), Verdict::Pass);
}

TEST_F(ExposedCommunication, IsSilentIfItIsHidden) {
  run(0, 390);
  EXPECT_EQ(verdict("communication-bound"), Verdict::Pass);
  EXPECT_EQ(verdict("overlap-not-used"), Verdict::Pass);
}

TEST_F(ExposedCommunication, OverlapThatIsNotUsedFires) {
  run(400, 350);
  const CheckResult fired = judge("overlap-not-used");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0);
  EXPECT_EQ(verdict("overlap-not-used", {{"min_hidden", 0.0}}), Verdict::Pass);
  EXPECT_EQ(verdict("overlap-not-used", {{"min_communication", 0.35}}), Verdict::Pass);
}

TEST_F(ExposedCommunication, ARankWithoutCollectivesIsSkipped) {
  step(rank(0), 0, {0, 100});
  EXPECT_EQ(verdict("communication-bound"), Verdict::Skipped);
}

}  // namespace
}  // namespace sonde::rules
