#include "tests/rules/training/tensor_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

std::string lengthOf(const std::vector<double>& values) {
  return fmt::format("{},", values.size());
}

// `counts[i]` times the class i.
std::vector<double> classesOf(const std::vector<int>& counts) {
  std::vector<double> classes;
  for (std::size_t label = 0; label < counts.size(); ++label)
    classes.insert(
        classes.end(), static_cast<std::size_t>(counts[label]), static_cast<double>(label));
  return classes;
}

class ClassRule : public test::TensorRule {
 protected:
  using TensorRule::TensorRule;

  void label(std::int64_t iteration, const std::vector<double>& values) {
    test::addSaved(facts_, "labels", "tensors", iteration, values, lengthOf(values));
  }
  void predict(std::int64_t iteration, const std::vector<double>& values) {
    test::addSaved(facts_, "predictions", "tensors", iteration, values, lengthOf(values));
  }
};

class ClassImbalance : public ClassRule {
 protected:
  ClassImbalance() : ClassRule("class-imbalance") {}
};

// SageMaker Debugger's case.
TEST_F(ClassImbalance, NinetyNineTimesAsManyFire) {
  label(0, classesOf({990, 10}));
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*outcome.value, 99);
  EXPECT_EQ(outcome.message, "class 0 has 990 labels, class 1 has 10, a ratio of 99");
}

TEST_F(ClassImbalance, TheThresholdItselfIsHealthy) {
  label(0, classesOf({500, 50}));
  EXPECT_EQ(verdict(), Verdict::Pass);
  label(1, classesOf({501, 50}));
  EXPECT_EQ(verdict(), Verdict::Fired);
  label(2, classesOf({500, 500}));  // the newest count
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(ClassImbalance, RecordingsAddUpUntilThereAreEnoughLabels) {
  label(0, classesOf({4000, 1}));
  label(1, classesOf({100, 100}));
  label(1, classesOf({150, 149}));
  EXPECT_EQ(verdict(), Verdict::Fired);  // 499 are too few
  set("samples", std::int64_t{499});
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Pass);
  EXPECT_EQ(outcome.samples, 499);
  EXPECT_EQ(outcome.window, "iterations 1-1");
}

TEST_F(ClassImbalance, OneClassAloneFires) {
  label(0, classesOf({500}));
  EXPECT_EQ(verdict(), Verdict::Fired);
  EXPECT_EQ(judgeFacts(facts_).message, "all 500 labels are of class 0");
}

TEST_F(ClassImbalance, AClassThatIsMostlyMistakenFires) {
  set("samples", std::int64_t{20});
  set("threshold_misprediction", 0.75);
  label(0, classesOf({12, 8}));
  std::vector<double> predicted(20, 0.0);
  predicted[19] = predicted[18] = 1;
  predict(0, predicted);
  EXPECT_EQ(verdict(), Verdict::Pass);  // 6 of 8
  predicted[18] = 0;
  label(1, classesOf({12, 8}));
  predict(1, predicted);
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*outcome.value, 0.875);
  EXPECT_THAT(outcome.message, HasSubstr("87.5 % of class 1 are predicted as another one"));
}

TEST_F(ClassImbalance, IsInsufficientWithoutSavedLabelsOrWithFewOrNoClasses) {
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
  test::addValues(facts_, "labels", "tensors", 0, {0, 1});
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("no saved tensor or collection 'labels'"));
  facts_.tensors.clear();
  label(0, classesOf({400, 99}));
  EXPECT_EQ(judgeFacts(facts_).message, "499 labels, but 500 are needed");
  EXPECT_FALSE(judgeFacts(facts_).inputMissing);
  for (const double bad : {0.5, std::nan(""), HUGE_VAL}) {
    label(1, {bad});
    EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("which is not a class"));
  }
}

class Confusion : public ClassRule {
 protected:
  Confusion() : ClassRule("confusion") { set("samples", std::int64_t{10}); }

  // Ten classes; `wrong` are predicted as `as`.
  void classify(const std::vector<double>& wrong, double as) {
    std::vector<double> labels = classesOf(std::vector<int>(10, 1));
    label(0, labels);
    for (double& each : labels)
      if (std::find(wrong.begin(), wrong.end(), each) != wrong.end())
        each = as;
    predict(0, labels);
  }
};

// SageMaker Debugger's cases.
TEST_F(Confusion, AnIdentityPasses) {
  classify({}, 0);
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Pass);
  EXPECT_DOUBLE_EQ(*outcome.value, 1);
}

TEST_F(Confusion, AClassThatIsTakenForAnotherFires) {
  classify({4}, 7);
  Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message, "0 % of class 4 are right; class 4 is predicted as 7: 100 %");
  set("min_diag", 0.0);
  set("max_off_diag", 0.01);
  outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*outcome.value, 1);
  EXPECT_DOUBLE_EQ(*outcome.threshold, 0.01);
}

TEST_F(Confusion, SharesAreOfTheRowOrOfTheColumn) {
  label(0, classesOf({5, 5}));
  predict(0, {0, 0, 0, 0, 1, 1, 1, 1, 1, 1});  // rows 4/5 and 5/5, columns 4/4 and 5/6
  EXPECT_DOUBLE_EQ(*judgeFacts(facts_).value, 0.8);
  set("normalise", std::string("column"));
  EXPECT_DOUBLE_EQ(*judgeFacts(facts_).value, 5.0 / 6);
  set("normalise", std::string("diagonal"));
  EXPECT_EQ(verdict(), Verdict::Error);
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("set it to 'row' or 'column'"));
}

TEST_F(Confusion, TheThresholdsThemselvesAreHealthy) {
  set("min_diag", 0.75);
  set("max_off_diag", 0.25);
  label(0, classesOf({4, 6}));
  predict(0, {0, 0, 0, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(verdict(), Verdict::Pass);
  set("min_diag", 0.7501);
  EXPECT_EQ(verdict(), Verdict::Fired);
  set("min_diag", 0.75);
  set("max_off_diag", 0.2499);
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(Confusion, ScoresCountByTheGreatest) {
  set("samples", std::int64_t{2});
  label(0, {0, 1});
  test::addSaved(facts_, "predictions", "tensors", 0, {0.1, 0.9, 0.2, 0.3, 0.2, 0.1}, "2,3,");
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message, "0 % of class 0 are right; class 0 is predicted as 1: 100 %");
}

TEST_F(Confusion, PairsRecordingsOfTheSameIterationInOrder) {
  set("samples", std::int64_t{4});
  label(0, {0, 0});
  label(0, {1, 1});
  label(1, {9, 9});  // no predictions
  predict(0, {0, 0});
  predict(0, {1, 1});
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(Confusion, IsInsufficientIfTheInputsDoNotFit) {
  label(0, {0, 1});
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("'predictions'"));
  predict(0, {0, 1, 2});
  EXPECT_THAT(judgeFacts(facts_).message,
              HasSubstr("there are 2 labels, but predictions of shape [3]"));
  label(1, {0, 1});
  test::addSaved(facts_, "predictions", "tensors", 1, {0, std::nan(""), 1, 2}, "2,2,");
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("predictions have a NaN"));
}

}  // namespace
}  // namespace sonde::rules
