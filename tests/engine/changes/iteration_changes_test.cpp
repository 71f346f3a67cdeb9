// When iterations became longer, and what moved with them.
#include "analysis/engine/changes/iteration_changes.h"

#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

#include <random>

namespace sonde::engine::changes {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kMs = 1'000'000;

class IterationChanges : public test::DeviceTrace {
 protected:
  // Steps of about 100 ms, 40 of them backward; from step `from` on longer by `more`, in backward.
  void train(std::int64_t steps, std::int64_t from, std::int64_t more, std::int64_t ofRank = 0) {
    const Rank one = rank(ofRank);
    std::mt19937 random(3);
    std::int64_t at = 0;
    for (std::int64_t number = 0; number < steps; ++number) {
      const std::int64_t extra = number >= from ? more : 0;
      const std::int64_t forward = 60 * kMs + static_cast<std::int64_t>(random() % kMs);
      const std::int64_t backward = 40 * kMs + extra;
      const std::int64_t end = at + forward + backward;
      const auto slice = trace_->slice(one.thread, model::SliceKind::Iteration, "step", {at, end});
      trace_->add(model::Iteration{.processId = one.process,
                                   .number = number,
                                   .startNs = at,
                                   .durNs = end - at,
                                   .probeMask = number % 10 == 7 ? 1 : 3,
                                   .sliceId = slice});
      trace_->slice(one.thread, model::SliceKind::Forward, "forward", {at, at + forward}, slice);
      trace_->slice(one.thread, model::SliceKind::Backward, "backward", {at + forward, end}, slice);
      at = end;
    }
  }
  std::vector<RankChanges> read() {
    const store::Database trace = open();
    return test::must(iterationChanges(trace, test::must(metrics::readRanks(trace))));
  }
};

TEST_F(IterationChanges, SayWhenAndByHowMuchAndWhatMoved) {
  train(100, 50, 10 * kMs);
  const auto ranks = read();
  ASSERT_THAT(ranks, SizeIs(1));
  EXPECT_EQ(ranks[0].rank, 0);
  EXPECT_EQ(ranks[0].iterations, 80);
  EXPECT_EQ(ranks[0].leftOut, 20) << "and the first ones after those";
  ASSERT_THAT(ranks[0].changes, SizeIs(1));
  const IterationChange& change = ranks[0].changes[0];
  EXPECT_EQ(change.number, 50);
  EXPECT_NEAR(static_cast<double>(change.atNs), 50 * 100.5e6, 10e6);
  EXPECT_EQ(change.iterationsBefore, 40);
  EXPECT_EQ(change.iterationsAfter, 40);
  EXPECT_NEAR(static_cast<double>(change.afterNs - change.beforeNs), 10e6, 0.5e6);
  EXPECT_LE(change.lowNs, 10 * kMs);
  EXPECT_GE(change.highNs, 10 * kMs);
  EXPECT_LT(change.highNs - change.lowNs, 2 * kMs);
  ASSERT_FALSE(change.operations.empty());
  EXPECT_EQ(change.operations[0].kind, diff::Kind::Host);
  EXPECT_EQ(change.operations[0].name, "backward");
  EXPECT_EQ(change.operations[0].byNs(), 10 * kMs);
  ASSERT_FALSE(change.categories.empty());
  EXPECT_NEAR(static_cast<double>(change.categories[0].byNs()), 10e6, 0.5e6);
}

// A rank without counted iterations keeps its place among the others.
TEST_F(IterationChanges, AreThoseOfTheRankThatHadThem) {
  const Rank masked = rank(0);
  for (std::int64_t number = 0; number < 2; ++number)
    trace_->add(model::Iteration{.processId = masked.process,
                                 .number = number,
                                 .startNs = number * kMs,
                                 .durNs = kMs,
                                 .probeMask = number + 1});
  train(100, 50, 10 * kMs, 1);
  const auto ranks = read();
  ASSERT_THAT(ranks, SizeIs(2));
  EXPECT_EQ(ranks[0].rank, 0);
  EXPECT_EQ(ranks[0].leftOut, 2);
  EXPECT_THAT(ranks[0].changes, IsEmpty());
  EXPECT_EQ(ranks[1].rank, 1);
  EXPECT_THAT(ranks[1].changes, SizeIs(1));
}

TEST_F(IterationChanges, AreNoneWhereNothingChanged) {
  train(100, 200, 0);
  const auto ranks = read();
  ASSERT_THAT(ranks, SizeIs(1));
  EXPECT_TRUE(ranks[0].isEnough);
  EXPECT_THAT(ranks[0].changes, IsEmpty());
}

// Significant, but too small to matter.
TEST_F(IterationChanges, OfLessThanAHundredthAreNotSaid) {
  train(300, 150, 800'000);
  EXPECT_THAT(read()[0].changes, IsEmpty());
}

TEST_F(IterationChanges, OfFewIterationsNobodyKnows) {
  train(15, 8, 100 * kMs);
  const auto ranks = read();
  ASSERT_THAT(ranks, SizeIs(1));
  EXPECT_FALSE(ranks[0].isEnough);
  EXPECT_THAT(ranks[0].changes, IsEmpty());
}

TEST_F(IterationChanges, AreOfRanksWithIterationsAlone) {
  trace_->slice(rank(0).thread, model::SliceKind::Operation, "work", {0, 10});
  EXPECT_THAT(read(), IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::changes
