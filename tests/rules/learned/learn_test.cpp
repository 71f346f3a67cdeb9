// Which candidates become invariants, and which runs break them.
#include "rules/learned/judge.h"
#include "tests/rules/learned/made_up_runs.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>

namespace sonde::rules {
namespace {

using sonde::test::must;
using test::goodRun;
using test::goodRuns;
using test::kRunLength;
using test::MadeUpRun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Invariant* find(const LearnedInvariants& learned, const ObservationKey& key) {
  for (const Invariant& each : learned.invariants)
    if (each.key == key)
      return &each;
  return nullptr;
}

// The number of bounds of the made-up runs is small, so ranges of six runs are narrow enough.
class Learned : public ::testing::Test {
 protected:
  InvariantJudgement judge(const MadeUpRun& run, const JudgeSettings& settings = {}) {
    judged_ = run.observed();
    return judgeInvariants(learned_, judged_, settings);
  }
  // The invariants that a change of a good run breaks, as "kind subject, measure @iteration:
  // observed".
  std::vector<std::string> broken(const std::function<void(MadeUpRun&)>& change) {
    MadeUpRun run = goodRun(99);
    change(run);
    std::vector<std::string> all;
    for (const BrokenInvariant& each : judge(run).broken)
      all.push_back(fmt::format("{} {}, {} @{}: {}",
                                each.invariant->key.kind,
                                each.invariant->key.subject,
                                each.invariant->key.measure,
                                each.tick.iteration,
                                each.observed));
    return all;
  }

  std::vector<RunObservations> runs_ = goodRuns(6);
  LearnedInvariants learned_ = must(learn(runs_));
  RunObservations judged_;
};

TEST_F(Learned, RunsWithOtherSeedsHoldAll) {
  EXPECT_EQ(learned_.runs.size(), 6U);
  EXPECT_EQ(learned_.iterations, 6 * 2 * kRunLength);
  ASSERT_EQ(learned_.dropped.size(), 1U);  // the weights are random
  EXPECT_EQ(learned_.dropped.at("updates").at("no linear law"), 1);
  for (unsigned seed = 50; seed < 90; ++seed) {
    const InvariantJudgement judgement = judge(goodRun(seed));
    EXPECT_TRUE(judgement.broken.empty()) << seed;
    EXPECT_EQ(judgement.held, static_cast<std::int64_t>(learned_.invariants.size()));
    EXPECT_EQ(judgement.unseen, 0);
  }
}

TEST_F(Learned, ACallTooManyOrTooFewBreaksItsCount) {
  EXPECT_THAT(broken([](MadeUpRun& run) { run.stretch(1, 12).operators["aten::zero_"] = 5; }),
              ElementsAre("calls operator aten::zero_, calls @12: 5"));
  EXPECT_THAT(broken([](MadeUpRun& run) { run.stretch(0, 12).operators.erase("aten::zero_"); }),
              ::testing::IsSupersetOf({"calls operator aten::zero_, calls @12: 0",
                                       "names operators, names @12: missing: aten::zero_"}));
  EXPECT_THAT(broken([](MadeUpRun& run) {
                run.stretch(0, 9).collectives = {{"allreduce of 64 bytes, float32", 1}};
              }),
              ElementsAre("calls allreduce of 64 bytes, float32, calls @9: 1"));
}

TEST_F(Learned, ANewCallOrTensorIsNoLearnedName) {
  EXPECT_THAT(broken([](MadeUpRun& run) { run.stretch(0, 5).operators["aten::softmax"] = 1; }),
              ElementsAre("names operators, names @5: new: aten::softmax"));
  EXPECT_THAT(broken([](MadeUpRun& run) {
                test::addValues(run.facts[1], "new.weight", "weights", 3, {1});
              }),
              ElementsAre("names weights, names @3: new: new.weight"));
}

TEST_F(Learned, AnotherOrderNamesTheFirstDifference) {
  MadeUpRun run = goodRun(99);
  std::swap(run.stretch(0, 7).order[1], run.stretch(0, 7).order[3]);
  const InvariantJudgement judgement = judge(run);
  ASSERT_EQ(judgement.broken.size(), 2U);
  EXPECT_EQ(judgement.broken[0].observed, "optimizer SGD.step");
  EXPECT_EQ(judgement.broken[0].expected, "forward forward");
  EXPECT_EQ(judgement.broken[1].observed, "optimizer SGD.step after aten::zero_");
}

TEST(Learning, AnOrderIsComparedWithTheLearnedOneThatIsMostAlike) {
  std::vector<RunObservations> runs;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    MadeUpRun run = goodRun(seed);
    for (int i = 0; i < kRunLength; i += 2)
      run.stretch(0, i).order = {"a", "b"};
    runs.push_back(run.observed());
  }
  const LearnedInvariants learned = must(learn(runs));
  MadeUpRun run = goodRun(9);
  run.stretch(0, 8).order = {"aten::zero_", "forward forward", "c"};
  const RunObservations observed = run.observed();
  const InvariantJudgement judgement = judgeInvariants(learned, observed, {});
  std::vector<std::string> expected;
  for (const BrokenInvariant& each : judgement.broken)
    if (each.invariant->key.subject == "scopes and operators" && each.tick.iteration == 8)
      expected.push_back(each.expected);
  EXPECT_THAT(expected, ElementsAre("backward backward after forward forward"));
}

TEST_F(Learned, OtherArgumentsAndLayoutsAreBroken) {
  EXPECT_THAT(
      broken([](MadeUpRun& run) {
        run.stretch(0, 6).arguments = {{"aten::mm [[8, 4], [4, 2]] ['double', 'double']", 6}};
      }),
      ElementsAre("arguments aten::mm [[8, 4], [4, 2]] ['float', 'float'], calls @6: 0"));
  EXPECT_THAT(broken([](MadeUpRun& run) { run.tensor(1, "inputs", 11).shape = "[3]"; }),
              ElementsAre("layout Net.0 (inputs), shape @11: [3]"));
  EXPECT_THAT(broken([](MadeUpRun& run) { run.tensor(1, "weights", 11).dtype = "float32"; }),
              ElementsAre("layout fc.weight (weights), dtype @11: float32"));
}

TEST_F(Learned, RanksThatWereEqualStayEqualAndOthersStayDifferent) {
  EXPECT_THAT(broken([](MadeUpRun& run) { *run.tensor(1, "weights", 8).mean += 1e-3; }),
              ElementsAre("ranks fc.weight (weights), ranks are @8: different"));
  EXPECT_THAT(
      broken([](MadeUpRun& run) { run.tensor(1, "inputs", 8) = run.tensor(0, "inputs", 8); }),
      ElementsAre("ranks Net.0 (inputs), ranks are @8: equal"));
}

TEST_F(Learned, AWeightThatStopsChangingIsBroken) {
  EXPECT_THAT(broken([](MadeUpRun& run) {
                for (int rank = 0; rank < 2; ++rank) {
                  TensorFact& now = run.tensor(rank, "weights", 10);
                  const std::int64_t tsNs = now.tsNs;
                  now = run.tensor(rank, "weights", 9);
                  now.iteration = 10;
                  now.tsNs = tsNs;
                }
              }),
              ElementsAre("updates fc.weight (weights), changes @10: no",
                          "updates fc.weight (weights), changes @10: no"));
}

TEST_F(Learned, AScheduleIsKnownInEachIteration) {
  const Invariant* const rate = find(learned_, {"scalars", "scalar rate", "value"});
  ASSERT_NE(rate, nullptr);
  EXPECT_TRUE(std::holds_alternative<Path>(rate->form));
  EXPECT_THAT(broken([](MadeUpRun& run) {
                run.facts[0].scalars["rate"].values[10].value = 0.05;  // should be 0.1 / 3
              }),
              ::testing::Contains("scalars scalar rate, value @10: 0.05"));
}

TEST_F(Learned, ValuesFarOutsideOfTheirRangeAreBroken) {
  EXPECT_THAT(broken([](MadeUpRun& run) {
                test::replaceValues(run.tensor(0, "gradients", 9), {1e3, 2});
              }),
              ::testing::Contains(HasSubstr("values fc.weight (gradients), rms @")));
  EXPECT_THAT(broken([](MadeUpRun& run) { run.facts[0].scalars["loss"].values[9].value = 300; }),
              ::testing::Contains("scalars scalar loss, value @9: 300"));
}

TEST_F(Learned, NanAndInfinityAndZeroAreBroken) {
  const double kNan = std::nan("");
  const double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {kNan, kInfinity})
    EXPECT_THAT(
        broken([&](MadeUpRun& run) { run.facts[0].scalars["loss"].values[9].value = value; }),
        ElementsAre("scalars scalar loss, finite @9: no"));
  EXPECT_THAT(broken([&](MadeUpRun& run) {
                TensorFact& fact = run.tensor(0, "inputs", 9);
                fact.l1 = fact.l2 = 0;
                fact.mean = fact.minimum = fact.maximum = std::nullopt;
                fact.nans = fact.elements;
              }),
              ElementsAre("values Net.0 (inputs), finite @9: no"));
  EXPECT_THAT(broken([&](MadeUpRun& run) { run.tensor(0, "inputs", 9).l2 = 0; }),
              ::testing::Contains("values Net.0 (inputs), all zero @9: yes"));
}

TEST_F(Learned, WhatIsIgnoredIsNotJudgedAndWiderRangesHoldMore) {
  MadeUpRun run = goodRun(99);
  run.facts[0].scalars["loss"].values[9].value = 300;
  EXPECT_FALSE(judge(run).broken.empty());
  EXPECT_TRUE(judge(run, {1, "scalar l*"}).broken.empty());
  EXPECT_TRUE(judge(run, {1e4, ""}).broken.empty());
}

TEST_F(Learned, WithoutItsSourceAnInvariantIsUnrecordedNotBroken) {
  MadeUpRun run = goodRun(99);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    run.facts[rank].tensors.erase(run.facts[rank].tensors.begin());  // weights
    run.calls[rank].hasOperators = run.calls[rank].hasArguments = false;
    for (CallStretch& each : run.calls[rank].stretches) {
      each.operators.clear();
      each.arguments.clear();
      each.order.erase(each.order.begin());
    }
  }
  const InvariantJudgement judgement = judge(run);
  EXPECT_TRUE(judgement.broken.empty());
  std::vector<std::string> sources;
  for (const auto& [source, count] : judgement.unrecorded)
    sources.push_back(source);
  EXPECT_THAT(sources, ElementsAre("arguments", "operators", "tensors of weights"));
  EXPECT_THAT(recorderOf("tensors of weights"), HasSubstr("--sources +tensor"));
  EXPECT_THAT(recorderOf("arguments"), HasSubstr("--torch-operators shapes"));
}

TEST(Learning, NeedsFiveRunsWithIterations) {
  const auto few = learn(goodRuns(4));
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code, ErrorCode::NotFound);
  EXPECT_EQ(few.error().message, "4 runs are too few to learn from: give 5 good runs or more");
  EXPECT_TRUE(learn(goodRuns(5)));
  auto empty = goodRuns(5);
  empty[2] = MadeUpRun{}.observed("empty.sonde");
  const auto without = learn(empty);
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, HasSubstr("'empty.sonde' has no iteration"));
}

TEST(Learning, DropsWhatOnlySomeRunsHave) {
  std::vector<RunObservations> runs = goodRuns(5);
  MadeUpRun odd = goodRun(77);
  odd.stretch(0, 10).operators["aten::mm"] = 7;
  test::addValues(odd.facts[0], "odd", "tensors", 4, {1, 2});
  runs.push_back(odd.observed());
  const LearnedInvariants learned = must(learn(runs));
  EXPECT_EQ(find(learned, {"calls", "operator aten::mm", "calls"}), nullptr);
  EXPECT_EQ(learned.dropped.at("calls").at("broken by a held-out run"), 1);
  EXPECT_GT(learned.dropped.at("layout").at("not in every run"), 0);
  EXPECT_NE(find(learned, {"calls", "operator aten::zero_", "calls"}), nullptr);
}

TEST(Learning, DropsARangeThatAHeldOutRunLeaves) {
  std::vector<RunObservations> runs = goodRuns(6);
  const ObservationKey loss = {"scalars", "scalar loss", "value"};
  EXPECT_NE(find(must(learn(runs)), loss), nullptr);
  MadeUpRun odd = goodRun(77);
  for (ProcessFacts& each : odd.facts)
    each.scalars["loss"].values[10].value = 1e9;
  runs.push_back(odd.observed());
  const LearnedInvariants learned = must(learn(runs));
  EXPECT_EQ(find(learned, loss), nullptr);
  EXPECT_GT(learned.dropped.at("scalars").at("broken by a held-out run"), 0);
}

TEST(Learning, DropsWhatVariesTooMuchOrIsNotFinite) {
  std::vector<RunObservations> runs;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    MadeUpRun run = goodRun(seed);
    for (int i = 0; i < kRunLength; ++i)
      run.stretch(0, i).operators["aten::mm"] = i % 5 + 1;
    run.facts[0].scalars["loss"].values[4].value = 1;
    test::addValues(run.facts[0], "x", "tensors", 3, {1, 2});
    runs.push_back(run.observed());
  }
  const LearnedInvariants learned = must(learn(runs));
  EXPECT_EQ(learned.dropped.at("calls").at("varies"), 1);
  EXPECT_GT(learned.dropped.at("layout").at("too few samples"), 0);
}

TEST(Learning, ACallThatSomeIterationsLackIsCountedAsZeroThere) {
  std::vector<RunObservations> runs;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    MadeUpRun run = goodRun(seed);
    for (int i = 0; i < kRunLength; i += 5)
      run.stretch(0, i).operators["aten::norm"] = 2;
    runs.push_back(run.observed());
  }
  const LearnedInvariants learned = must(learn(runs));
  const Invariant* const norm = find(learned, {"calls", "operator aten::norm", "calls"});
  ASSERT_NE(norm, nullptr);
  EXPECT_EQ(std::get<OneOf>(norm->form).values, (std::vector<std::string>{"0", "2"}));
}

TEST(Learning, TheFirstIterationsMayDiffer) {
  std::vector<RunObservations> runs;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    MadeUpRun run = goodRun(seed);
    run.stretch(0, 0).operators["aten::mm"] = 8;
    run.stretch(0, 1).operators["aten::mm"] = 9;
    runs.push_back(run.observed());
  }
  const LearnedInvariants learned = must(learn(runs));
  const Invariant* const mm = find(learned, {"calls", "operator aten::mm", "calls"});
  ASSERT_NE(mm, nullptr);
  EXPECT_EQ(std::get<OneOf>(mm->form).from, 2);
  EXPECT_EQ(std::get<OneOf>(mm->form).values, std::vector<std::string>{"6"});
  EXPECT_TRUE(judgeInvariants(learned, runs.front(), {}).broken.empty());
  const Invariant* const zero = find(learned, {"calls", "operator aten::zero_", "calls"});
  EXPECT_EQ(std::get<OneOf>(zero->form).from, 0);
}

// A prediction interval holds one more run with the probability that it states, whatever its
// distribution's mean and variance. 60 times six runs of ten tensors.
TEST(Learning, OtherGoodRunsRarelyLeaveARange) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  const auto run = [&] {
    MadeUpRun made{{test::stepsOf(std::vector<std::int64_t>(8, 1000))}, {ProcessCalls{}}};
    for (int tensor = 0; tensor < 10; ++tensor) {
      const double scale = std::exp(0.3 * normal(random));
      for (int i = 0; i < 8; ++i)
        test::addValues(made.facts[0],
                        "t" + std::to_string(tensor),
                        "gradients",
                        i,
                        {scale * std::exp(0.1 * normal(random)), scale * normal(random)});
    }
    return made.observed();
  };
  int left = 0;
  for (int repeat = 0; repeat < 60; ++repeat) {
    std::vector<RunObservations> runs;
    for (int i = 0; i < 6; ++i)
      runs.push_back(run());
    const LearnedInvariants learned = must(learn(runs));
    const InvariantJudgement judgement = judgeInvariants(learned, run(), {});
    left += judgement.broken.empty() ? 0 : 1;
  }
  EXPECT_LE(left, 2);  // less than 1 is expected
}

}  // namespace
}  // namespace sonde::rules
