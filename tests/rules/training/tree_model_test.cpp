#include "tests/rules/process_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

class FeatureImportanceOverweight : public test::ProcessRule {
 protected:
  FeatureImportanceOverweight() : ProcessRule("feature-importance-overweight") {
    EXPECT_TRUE(parameters_.set("nfeatures", std::int64_t{2}));
    EXPECT_TRUE(parameters_.set("threshold", 0.75));
  }

  // In iteration `at`.
  void add(std::int64_t at, const std::map<std::string, double>& importances) {
    for (const auto& [name, value] : importances)
      facts_.scalars["feature_importance/" + name].values.push_back({at, value, 1});
  }

  ProcessFacts facts_ = test::stepsOf({10, 10, 10});
};

TEST_F(FeatureImportanceOverweight, FiresIfFewFeaturesHaveMostOfIt) {
  add(0, {{"age", 6}, {"zip", 1}, {"sex", 1}, {"id", 8}});
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*outcome.value, 0.875);
  EXPECT_EQ(outcome.message, "id, age have 87.5 % of the importance of 4 features");
}

TEST_F(FeatureImportanceOverweight, TheThresholdItselfIsHealthyAndTheNewestValueCounts) {
  add(0, {{"a", 9}, {"b", 9}, {"c", 0}});
  EXPECT_EQ(judgeFacts(facts_).verdict, Verdict::Fired);
  add(1, {{"a", 2}, {"b", 1}, {"c", 1}});
  EXPECT_EQ(judgeFacts(facts_).verdict, Verdict::Pass);  // 3 of 4
}

TEST_F(FeatureImportanceOverweight, IsSkippedWithoutMoreFeatures) {
  add(0, {{"a", 9}, {"b", 9}});
  EXPECT_EQ(judgeFacts(facts_).verdict, Verdict::Skipped);
}

TEST_F(FeatureImportanceOverweight, NoNumbersAreInsufficient) {
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("no scalar 'feature_importance/NAME'"));
  add(0, {{"a", 0}, {"b", 0}, {"c", 0}});
  EXPECT_EQ(judgeFacts(facts_).message, "all importances are 0, so they have no shares");
  for (const double bad : {std::nan(""), HUGE_VAL, -1.0}) {
    add(1, {{"a", bad}});
    EXPECT_EQ(judgeFacts(facts_).verdict, Verdict::Insufficient);
  }
}

class TreeDepth : public test::ProcessRule {
 protected:
  TreeDepth() : ProcessRule("tree-depth") {}
};

// SageMaker Debugger's cases: max_depth 100, and 4 over 10 rounds.
TEST_F(TreeDepth, ADeepTreeFiresAtOnce) {
  const Outcome outcome = judgeFacts(test::scalarOf("tree_depth", {5}));
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message, "'tree_depth' is 5 at iteration 0");
}

TEST_F(TreeDepth, TreesAtTheLimitAreHealthy) {
  EXPECT_EQ(judgeFacts(test::scalarOf("tree_depth", std::vector<double>(10, 4))).verdict,
            Verdict::Pass);
}

TEST_F(TreeDepth, TheNewestTreeCounts) {
  EXPECT_EQ(judgeFacts(test::scalarOf("tree_depth", {9, 2})).verdict, Verdict::Pass);
}

TEST_F(TreeDepth, NoDepthIsInsufficient) {
  EXPECT_TRUE(judgeFacts(test::stepsOf({10})).inputMissing);
  EXPECT_EQ(judgeFacts(test::scalarOf("tree_depth", {std::nan("")})).verdict,
            Verdict::Insufficient);
}

}  // namespace
}  // namespace sonde::rules
