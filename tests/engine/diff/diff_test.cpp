#include "analysis/engine/diff/diff.h"

#include "tests/engine/diff/simulated_runs.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::diff {
namespace {

using test::must;
using Runs = std::vector<RunTimes>;

const Judgement kJudgement;

// An operation of a simulated run: its time, and the factor by which it lasts longer on the other
// side.
struct Operation {
  std::string name;
  double ns;
  double factor = 1;
};

Subject host(const std::string& name) {
  return {Kind::Host, {}, name};
}

// Runs whose iteration is the sum of its operations.
class Jobs {
 public:
  explicit Jobs(unsigned seed) : simulation_(seed) {}

  Runs side(const std::vector<Operation>& operations, bool changed, Simulated like = {}) {
    Runs runs(static_cast<std::size_t>(like.runs));
    for (RunTimes& run : runs) {
      run.iterations = static_cast<std::size_t>(like.iterations);
      run.ranks = 1;
      run.times[Subject{}] = std::vector<double>(run.iterations, 0);
    }
    for (const Operation& operation : operations) {
      like.ns = operation.ns;
      const Observations observed = simulation_.side(like, changed ? operation.factor : 1);
      for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].times[host(operation.name)] = observed[i];
        for (std::size_t at = 0; at < observed[i].size(); ++at)
          runs[i].times[Subject{}][at] += observed[i][at];
      }
    }
    return runs;
  }

 private:
  Simulation simulation_;
};

std::map<std::string, Verdict> verdictsOf(const Diff& result) {
  std::map<std::string, Verdict> verdicts;
  for (const Row& row : result.rows)
    verdicts[row.subject.name.value_or("iteration")] = row.verdict;
  return verdicts;
}

bool callsAnyDifferent(const Diff& result) {
  return std::any_of(result.rows.begin(), result.rows.end(), [](const Row& row) {
    return row.verdict == Verdict::Slower || row.verdict == Verdict::Faster;
  });
}

const std::vector<Operation> kTraining = {
    {"load", 1e6}, {"forward", 3e6, 1.03}, {"backward", 6e6}, {"step", 1e6}};

TEST(Diff, FindsTheOperationThatIsSlower) {
  Jobs jobs(1);
  int found = 0;
  int others = 0;
  for (int round = 0; round < 60; ++round) {
    const Diff result =
        must(diff(jobs.side(kTraining, false), jobs.side(kTraining, true), kJudgement));
    const auto verdicts = verdictsOf(result);
    found += verdicts.at("forward") == Verdict::Slower ? 1 : 0;
    for (const char* const name : {"load", "backward", "step"})
      others += verdicts.at(name) != Verdict::Same ? 1 : 0;
    EXPECT_EQ(result.tests, 15U);
  }
  EXPECT_GE(found, 54);
  EXPECT_LE(others, 4);
}

TEST(Diff, IdenticalRunsAreRarelyCalledDifferent) {
  for (const int runs : {1, 5}) {
    Jobs jobs(2);
    int different = 0;
    std::vector<Operation> many;
    for (int i = 0; i < 40; ++i)
      many.push_back({"operation " + std::to_string(i), 1e5 * (i + 1)});
    for (int round = 0; round < 40; ++round)
      different += callsAnyDifferent(must(diff(jobs.side(many, false, {.runs = runs}),
                                               jobs.side(many, false, {.runs = runs}),
                                               kJudgement)));
    EXPECT_LE(different, 2) << runs << " runs a side, 40 operations";
  }
}

TEST(Diff, RunsAndThemselvesDoNotDiffer) {
  Jobs jobs(3);
  for (const int runs : {1, 2, 5}) {
    const Runs side = jobs.side(kTraining, false, {.runs = runs});
    const Diff result = must(diff(side, side, kJudgement));
    EXPECT_EQ(result.verdict, Verdict::Same);
    EXPECT_GE(result.rows.size(), kTraining.size());
    for (const Row& row : result.rows) {
      EXPECT_EQ(row.verdict, Verdict::Same);
      EXPECT_EQ(row.p, 1);
      EXPECT_EQ(row.shown.change, 0);
    }
  }
}

TEST(Diff, SwappingTheSidesMirrorsIt) {
  Jobs jobs(4);
  std::vector<Operation> operations = kTraining;
  operations.push_back({"copy", 2e6, 0.8});
  const Runs a = jobs.side(operations, false);
  const Runs b = jobs.side(operations, true);
  const Diff one = must(diff(a, b, kJudgement));
  const Diff other = must(diff(b, a, kJudgement));
  const std::map<Verdict, Verdict> mirrored = {{Verdict::Slower, Verdict::Faster},
                                               {Verdict::Faster, Verdict::Slower},
                                               {Verdict::Same, Verdict::Same}};
  EXPECT_TRUE(callsAnyDifferent(one));
  ASSERT_EQ(one.rows.size(), other.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_EQ(one.rows[i].subject, other.rows[i].subject);
    EXPECT_EQ(mirrored.at(one.rows[i].verdict), other.rows[i].verdict);
    EXPECT_NEAR(one.rows[i].p, other.rows[i].p, 1e-12);
    EXPECT_DOUBLE_EQ(one.rows[i].shown.a.ns, other.rows[i].shown.b.ns);
  }
}

TEST(Diff, WhatOneSideAloneHasIsAddedOrRemoved) {
  Jobs jobs(5);
  std::vector<Operation> before = kTraining;
  before.push_back({"old", 2e6});
  std::vector<Operation> after = kTraining;
  after.push_back({"new", 3e6});
  const Diff result = must(diff(jobs.side(before, false), jobs.side(after, false), kJudgement));
  const auto verdicts = verdictsOf(result);
  EXPECT_EQ(verdicts.at("old"), Verdict::Removed);
  EXPECT_EQ(verdicts.at("new"), Verdict::Added);
  EXPECT_EQ(result.tests, 15U) << "nothing to test";
  for (const Row& row : result.rows) {
    if (row.subject.name == "new") {
      EXPECT_EQ(row.shown.a.ns, 0);
      EXPECT_NEAR(row.shown.b.ns, 3e6, 3e5);
    }
  }
}

TEST(Diff, WhatTakesNoTimeInAnyIterationThatCountsIsNotThere) {
  Jobs jobs(6);
  Runs a = jobs.side(kTraining, false);
  a.front().times[host("set up")] = std::vector<double>(a.front().iterations, 0);
  EXPECT_FALSE(verdictsOf(must(diff(a, a, kJudgement))).contains("set up"));
}

TEST(Diff, AnOperationThatOneRunLacksIsComparedAllTheSame) {
  Jobs jobs(7);
  Runs a = jobs.side(kTraining, false);
  const Runs b = jobs.side(kTraining, false);
  a.back().times.erase(host("step"));
  EXPECT_EQ(verdictsOf(must(diff(a, b, kJudgement))).at("step"), Verdict::Same);
}

TEST(Diff, TheIterationIsFirstThenKindsThenTheLongest) {
  Jobs jobs(8);
  Runs side = jobs.side({{"short", 1e6}, {"long", 5e6}}, false);
  for (RunTimes& run : side)
    run.times[{Kind::Kernel, {}, "gemm"}] = std::vector<double>(run.iterations, 9e6);
  std::vector<std::string> names;
  for (const Row& row : must(diff(side, side, kJudgement)).rows)
    names.push_back(row.subject.name.value_or("iteration"));
  EXPECT_EQ(names, (std::vector<std::string>{"iteration", "long", "short", "gemm"}));
}

TEST(Diff, OfAllVerdictsTheIterationsIsTheWhole) {
  Jobs jobs(9);
  const auto verdictOf = [&](const std::vector<Operation>& operations) {
    return must(diff(jobs.side(operations, false), jobs.side(operations, true), kJudgement))
        .verdict;
  };
  EXPECT_EQ(verdictOf({{"forward", 5e6, 1.3}, {"backward", 5e6}}), Verdict::Slower);
  EXPECT_EQ(verdictOf({{"forward", 5e6, 0.7}, {"backward", 5e6}}), Verdict::Faster);
  EXPECT_EQ(verdictOf({{"forward", 1e4, 1.3}, {"backward", 5e6}}), Verdict::Different);
  EXPECT_EQ(verdictOf({{"forward", 5e6}, {"backward", 5e6}}), Verdict::Same);
}

TEST(Diff, OneIterationIsTooFew) {
  Jobs jobs(10);
  const Simulated single{.runs = 1, .iterations = 1};
  const Diff result = must(
      diff(jobs.side(kTraining, false, single), jobs.side(kTraining, true, single), kJudgement));
  EXPECT_EQ(result.verdict, Verdict::TooFew);
  EXPECT_GE(result.rows.size(), kTraining.size());
  for (const Row& row : result.rows) {
    EXPECT_EQ(row.verdict, Verdict::TooFew);
    EXPECT_FALSE(row.detectable);
    EXPECT_FALSE(row.shown.low) << "an interval would promise too much";
  }
}

TEST(Diff, NoIterationIsAnError) {
  Jobs jobs(11);
  const Runs side = jobs.side(kTraining, false);
  Runs none(1);
  none.front().times[Subject{}] = {};
  const auto result = diff(side, none, kJudgement);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::NotFound);
  EXPECT_NE(result.error().message.find("B has no iteration"), std::string::npos);
  Runs some = side;
  some.push_back(none.front());
  EXPECT_TRUE(diff(side, some, kJudgement)) << "a run without any is left out";
}

TEST(Diff, RanksOfOneSideAloneAreAddedOrRemoved) {
  Jobs jobs(12);
  Runs a = jobs.side(kTraining, false);
  Runs b = a;
  for (auto* side : {&a, &b})
    for (RunTimes& run : *side) {
      const std::vector<double> iteration = run.times.at(Subject{});
      run.times = {{{Kind::Iteration, 0, {}}, iteration}};
      if (side == &b)
        run.times[{Kind::Iteration, 1, {}}] = iteration;
    }
  const Diff result = must(diff(a, b, kJudgement));
  ASSERT_EQ(result.rows.size(), 2U);
  EXPECT_EQ(result.rows[0].verdict, Verdict::Same);
  EXPECT_EQ(result.rows[1].subject.rank, 1);
  EXPECT_EQ(result.rows[1].verdict, Verdict::Added);
}

TEST(Diff, ADifferenceThatOnlyFastIterationsShowIsFound) {
  // Most iterations are disturbed, but not by the program.
  Jobs jobs(13);
  const Simulated noisy{.betweenRuns = 0.002, .withinRun = 0.004, .disturbedShare = 0.7};
  int found = 0;
  for (int round = 0; round < 20; ++round) {
    const Diff result = must(diff(jobs.side({{"forward", 5e6, 1.03}}, false, noisy),
                                  jobs.side({{"forward", 5e6, 1.03}}, true, noisy),
                                  kJudgement));
    for (const Row& row : result.rows)
      if (row.subject.name && row.verdict == Verdict::Slower)
        found += row.shown.measure == Measure::Fast ? 1 : 0;
  }
  EXPECT_GE(found, 8);
}

TEST(Diff, OfSingleRunsWhatTakesNextToNothingDoesNotDiffer) {
  const auto side = [](double tiny) {
    Runs runs(1);
    runs.front().iterations = 30;
    runs.front().times[Subject{}] = std::vector<double>(30, 1e7);
    runs.front().times[host("tiny")] = std::vector<double>(30, tiny);
    return runs;
  };
  EXPECT_EQ(verdictsOf(must(diff(side(1e3), side(2e3), kJudgement))).at("tiny"), Verdict::Same);
  EXPECT_EQ(verdictsOf(must(diff(side(1e5), side(2e5), kJudgement))).at("tiny"), Verdict::Slower);
}

TEST(Diff, NoDifferenceRestsOnAFewIterations) {
  // The fastest fifth differs, to the nanosecond; the others are equal, so ranks do not show the
  // difference.
  const auto side = [](double fast) {
    Runs runs(4);
    for (RunTimes& run : runs) {
      run.iterations = 30;
      std::vector<double>& times = run.times[Subject{}];
      for (int i = 0; i < 30; ++i)
        times.push_back(i % 5 == 0 ? fast : 200 + 7 * i);
    }
    return runs;
  };
  const Row row = must(diff(side(100), side(103), kJudgement)).rows.front();
  EXPECT_EQ(row.shown.measure, Measure::Fast);
  EXPECT_LT(row.shown.p, 1e-4);
  EXPECT_GT(row.pRanks, 0.05);
  EXPECT_EQ(row.verdict, Verdict::Same);
}

TEST(Diff, WhatFastIterationsLackIsShownByOthers) {
  const auto side = [](double ns) {
    Runs runs(4);
    for (RunTimes& run : runs) {
      run.iterations = 30;
      run.times[Subject{}] = std::vector<double>(30, 1e7);
      std::vector<double>& times = run.times[host("log")];
      for (int i = 0; i < 30; ++i)
        times.push_back(i % 5 == 0 ? 0 : ns + 100 * i);
    }
    return runs;
  };
  const Row row = must(diff(side(1e6), side(1e6), kJudgement)).rows.back();
  EXPECT_EQ(row.subject, host("log"));
  EXPECT_NE(row.shown.measure, Measure::Fast);
  EXPECT_GT(row.shown.a.ns, 0);
  EXPECT_TRUE(row.shown.change);
}

// Five runs of equal iterations. The subtracted recording costs have an error of one per cent of
// them, of which a share is the noise of each run's calibration.
Runs corrected(double noise, const std::string& recorder) {
  Runs side(5);
  for (RunTimes& run : side) {
    run.iterations = 30;
    run.times[Subject{}] = std::vector<double>(30, 1e7);
    run.errors[Subject{}] = std::vector<double>(30, 1e5);
    run.costs = {true, true, noise, recorder};
  }
  return side;
}

double errorOf(const Runs& a, const Runs& b) {
  return must(diff(a, b, kJudgement)).rows.front().shown.error;
}

TEST(Diff, WhatCalibrationsAssumeIsAsUnsureInManyRunsAsInOne) {
  EXPECT_NEAR(errorOf(corrected(0, "x"), corrected(0, "y")), 0.01 * std::sqrt(2.0), 1e-4);
  EXPECT_LT(errorOf(corrected(0, "x"), corrected(0, "x")), 1e-3) << "off by the same on both sides";
}

TEST(Diff, NoiseOfCalibrationsShrinksWithTheNumberOfRuns) {
  const double own = 0.01 * std::sqrt(2.0 / 5);
  EXPECT_NEAR(errorOf(corrected(1, "x"), corrected(1, "x")), own, 1e-4);
  EXPECT_NEAR(errorOf(corrected(1, "x"), corrected(1, "y")), own, 1e-4);
  EXPECT_NEAR(errorOf(corrected(0.6, "x"), corrected(0.6, "x")), 0.6 * own, 1e-4);
  EXPECT_NEAR(errorOf(corrected(0.6, "x"), corrected(0.6, "y")),
              std::hypot(0.6 * own, 0.8 * 0.01 * std::sqrt(2.0)),
              1e-4);
}

TEST(Diff, EveryVerdictAndKindHasItsWord) {
  std::set<std::string_view> words;
  for (const auto verdict : {Verdict::Slower,
                             Verdict::Faster,
                             Verdict::Same,
                             Verdict::Added,
                             Verdict::Removed,
                             Verdict::TooFew,
                             Verdict::Different})
    words.insert(word(verdict));
  EXPECT_EQ(words.size(), 7U);
  EXPECT_EQ(word(Verdict::Same), "no difference can be shown");
  EXPECT_EQ(word(Verdict::TooFew), "too few iterations");
  EXPECT_EQ(word(Kind::Iteration), "iteration");
  EXPECT_EQ(word(Kind::Category), "category");
}

}  // namespace
}  // namespace sonde::engine::diff
