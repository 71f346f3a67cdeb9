#include "tests/rules/rule_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

// Iterations of 1000 ns with four operations, which end 200, 400, 600 and 800 ns after the begin.
class StragglerForeseen : public test::RuleTrace {
 protected:
  struct Open {
    int ended = 0;             // operations
    std::int64_t elapsed = 0;  // ns
    std::int64_t each = 200;   // ns of an operation
  };

  Rank iterate(std::int64_t number, int iterations) {
    const Rank one = rank(number);
    for (int i = 0; i < iterations; ++i) {
      step(one, i, {1000 * i, 1000 * i + 1000});
      operations(one, 1000 * i, 4, 200);
    }
    return one;
  }
  // Then one more iteration begins.
  void begin(const Rank& one, int iterations, const Open& open) {
    const std::int64_t start = 1000 * iterations;
    operations(one, start, open.ended, open.each);
    trace_->add(model::OpenCall{.processId = one.process,
                                .threadId = one.thread,
                                .kind = "iteration",
                                .category = "torch",
                                .nameId = trace_->name("step"),
                                .startNs = start,
                                .seenNs = start + open.elapsed});
  }
  void add(std::int64_t number, int iterations, const Open& open) {
    begin(iterate(number, iterations), iterations, open);
  }

 private:
  void operations(const Rank& one, std::int64_t start, int count, std::int64_t ns) {
    for (int i = 0; i < count; ++i)
      trace_->slice(one.thread,
                    model::SliceKind::Operation,
                    "layer",
                    {start + ns * i + 1, start + ns * (i + 1)});
  }
};

class StragglerRule : public test::RuleTrace {};

TEST_F(StragglerRule, WithoutTwoRanksCannotApply) {
  const CheckResult none = judge("straggler");
  EXPECT_EQ(none.outcome.verdict, Verdict::Skipped) << none.outcome.message;
  EXPECT_THAT(none.outcome.message, HasSubstr("give the traces of all ranks"));
}

TEST_F(StragglerRule, OfOneRankThatRecordedNoWorkCannotApply) {
  rank(0);
  EXPECT_EQ(verdict("straggler"), Verdict::Skipped);
}

TEST_F(StragglerRule, OfTwoRanksThatRecordedNoWorkHasTooLittleData) {
  for (const std::int64_t number : {0, 1})
    step(rank(number), 0, {0, 1000});
  EXPECT_EQ(verdict("straggler"), Verdict::Insufficient);
}

TEST_F(StragglerForeseen, NamesTheRankThatIsBehindTheOthers) {
  add(0, 6, {.ended = 3, .elapsed = 1100});
  add(1, 6, {.ended = 1, .elapsed = 1100});
  add(2, 6, {.ended = 3, .elapsed = 1100});
  const CheckResult fired = judge("straggler-foreseen");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(fired.entity, "rank 1");
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0.7);  // the second operation was due after 400 ns
  EXPECT_EQ(std::get<double>(fired.outcome.evidence.at("predicted_low_ns")), 1700);
  EXPECT_THAT(fired.outcome.message,
              HasSubstr("iteration 6 will take 0.0017 ms in place of 0.001 ms"));
  EXPECT_EQ(verdict("straggler-foreseen", {{"max_share", 0.7}}), Verdict::Pass);
}

// Its operations took twice as long, so the rest may, too.
TEST_F(StragglerForeseen, PredictsTheEndByThePaceSoFar) {
  add(0, 6, {.ended = 2, .elapsed = 900, .each = 400});
  const CheckResult fired = judge("straggler-foreseen");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(std::get<double>(fired.outcome.evidence.at("predicted_low_ns")), 1300);
  EXPECT_EQ(std::get<double>(fired.outcome.evidence.at("predicted_high_ns")), 1700);
  EXPECT_EQ(std::get<std::string>(fired.outcome.evidence.at("compared_with")), "itself");
}

TEST_F(StragglerForeseen, RanksInTimeAreHealthy) {
  add(0, 6, {.ended = 2, .elapsed = 500});
  add(1, 6, {.ended = 1, .elapsed = 500});
  const CheckResult healthy = judge("straggler-foreseen");
  EXPECT_EQ(healthy.outcome.verdict, Verdict::Pass);
  EXPECT_DOUBLE_EQ(*healthy.outcome.value, 0.1);
}

TEST_F(StragglerForeseen, RanksThatAreEquallyLateAreNoStragglers) {
  add(0, 6, {.ended = 2, .elapsed = 1500});
  add(1, 6, {.ended = 2, .elapsed = 1500});
  const CheckResult healthy = judge("straggler-foreseen");
  EXPECT_EQ(healthy.outcome.verdict, Verdict::Pass);
  EXPECT_THAT(healthy.outcome.message, HasSubstr("no rank is behind the others"));
}

// Nobody has ended an iteration before, but three ranks have ended this one.
TEST_F(StragglerForeseen, ComparesTheFirstIterationWithThatOfOthers) {
  for (int number = 0; number < 3; ++number)
    iterate(number, 1);
  begin(rank(3), 0, {.ended = 1, .elapsed = 1000});
  const CheckResult fired = judge("straggler-foreseen");
  EXPECT_EQ(fired.entity, "rank 3");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(std::get<std::string>(fired.outcome.evidence.at("compared_with")), "other ranks");
}

TEST_F(StragglerForeseen, TooFewIterationsAreInsufficient) {
  add(0, 3, {.ended = 0, .elapsed = 5000});  // the first one does not count
  const CheckResult result = judge("straggler-foreseen");
  EXPECT_EQ(result.outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(result.outcome.message, HasSubstr("none has 3 earlier ones"));
  EXPECT_EQ(verdict("straggler-foreseen", {{"min_samples", std::int64_t{2}}}), Verdict::Fired);
}

TEST_F(StragglerForeseen, IsSkippedIfNoIterationIsOpen) {
  iterate(0, 6);
  EXPECT_EQ(verdict("straggler-foreseen"), Verdict::Skipped);
}

}  // namespace
}  // namespace sonde::rules
