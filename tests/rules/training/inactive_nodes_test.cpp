#include "tests/rules/training/tensor_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

class DeadRelu : public test::TensorRule {
 protected:
  DeadRelu() : TensorRule("dead-relu") {}
};

TEST_F(DeadRelu, AWholeLayerOfZerosFires) {
  test::addValues(facts_, "relu1", "activations", 0, std::vector<double>(200, 0.0));
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message,
            "0 % of the elements of relu1 (activations) are active in iteration 0");
}

TEST_F(DeadRelu, ALayerWithTheLeastActivityIsHealthy) {
  std::vector<double> values(100, 0.0);
  values[7] = 3;
  test::addValues(facts_, "0.ReLU", "activations", 0, values);
  EXPECT_EQ(verdict(), Verdict::Pass);  // 1 of 100
  values.push_back(0);
  test::addValues(facts_, "0.ReLU", "activations", 1, values);
  EXPECT_EQ(verdict(), Verdict::Fired);  // 1 of 101
  test::addValues(facts_, "0.ReLU", "activations", 2, {1, 0});
  EXPECT_EQ(verdict(), Verdict::Pass);  // does not latch
}

// Two samples of four nodes; `dead` of them never are active.
std::vector<double> samplesOf(int dead) {
  std::vector<double> values;
  for (int sample = 0; sample < 2; ++sample)
    for (int node = 0; node < 4; ++node)
      values.push_back(node >= dead && sample == node % 2 ? 1 : 0);
  return values;
}

TEST_F(DeadRelu, SavedTensorsAreJudgedByNode) {
  test::addSaved(facts_, "relu", "activations", 0, samplesOf(2), "2,4,");
  Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Pass);  // half of them: not more than max_nodes
  EXPECT_DOUBLE_EQ(*outcome.value, 0.5);
  test::addSaved(facts_, "relu", "activations", 1, samplesOf(3), "2,4,");
  outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message,
            "75 % of the nodes of relu (activations) have less than 1 % of their elements active "
            "in iteration 1");
  set("axis", std::int64_t{-2});  // samples are no nodes
  EXPECT_EQ(verdict(), Verdict::Pass);
  set("axis", std::int64_t{2});
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("has 2 dimensions: set the parameter axis"));
}

TEST_F(DeadRelu, AChannelIsANodeWhateverItsPlaces) {
  std::vector<double> values(2 * 3 * 2, 0.0);
  values[2 * 2] = 1;  // image 0, channel 2
  test::addSaved(facts_, "relu", "activations", 0, values, "2,3,2,");
  EXPECT_NEAR(*judgeFacts(facts_).value, 2.0 / 3, 1e-12);
}

TEST_F(DeadRelu, AtMinActiveANodeLives) {
  test::addSaved(facts_, "relu", "activations", 0, {1, 1, 0, 0}, "4,1,");
  set("min_active", 0.5);
  EXPECT_EQ(verdict(), Verdict::Pass);
  set("min_active", 0.5001);
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(DeadRelu, OtherTensorsAreNotTakenForReluResults) {
  test::addValues(facts_, "fc1", "activations", 0, {0, 0});
  const Outcome none = judgeFacts(facts_);
  EXPECT_EQ(none.verdict, Verdict::Insufficient);
  EXPECT_TRUE(none.inputMissing);
  EXPECT_THAT(none.message, HasSubstr("no tensor or collection '*relu*'"));
  test::addValues(facts_, "leaky_relu", "activations", 0, {-1, 0});
  EXPECT_EQ(verdict(), Verdict::Skipped);
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("1 tensors '*relu*' have negative elements"));
  test::addValues(facts_, "prelu.weight", "weights", 0, {0, 0});
  facts_.tensors.back().role = "weight";
  EXPECT_EQ(verdict(), Verdict::Skipped);
  test::addValues(facts_, "relu", "activations", 0, {1, 0});
  EXPECT_EQ(verdict(), Verdict::Pass);
  test::addValues(facts_, "4", "relus", 0, {std::nan(""), 0});
  EXPECT_EQ(verdict(), Verdict::Insufficient);
}

class SaturatedActivation : public test::TensorRule {
 protected:
  SaturatedActivation() : TensorRule("saturated-activation") {}
};

TEST_F(SaturatedActivation, TheBoundsFollowFromGradEps) {
  const double tanh = std::acosh(1 / std::sqrt(1e-7));
  const double sigmoid = 2 * std::acosh(1 / std::sqrt(1e-7) / 2);
  EXPECT_NEAR(tanh, 8.752, 5e-4);
  EXPECT_NEAR(sigmoid, 16.118, 5e-4);
  for (const auto& [name, bound] :
       {std::pair("tanh_input", tanh), std::pair("sigmoid_input", sigmoid)}) {
    ProcessFacts facts = facts_;
    test::addSaved(facts, name, "tensors", 0, {bound, -bound}, "2,1,");
    EXPECT_EQ(judgeFacts(facts).verdict, Verdict::Fired) << name;  // the bound is saturated
    const double inside = std::nextafter(bound, 0);
    test::addSaved(facts, name, "tensors", 1, {inside, -inside}, "2,1,");
    EXPECT_EQ(judgeFacts(facts).verdict, Verdict::Pass) << name;
  }
}

TEST_F(SaturatedActivation, HalfOfTheNodesMayBeSaturated) {
  test::addSaved(facts_, "fc", "tanh_input", 0, {0, 99, 0, -99}, "2,2,");
  EXPECT_EQ(verdict(), Verdict::Pass);
  test::addSaved(facts_, "fc", "tanh_input", 1, {0, 99, 88, 0, -99, 88}, "2,3,");
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(SaturatedActivation, TheHistogramJudgesAWholeLayer) {
  const auto histogram = [&](const char* text) {
    test::addValues(facts_, "fc.tanh_input", "tensors", 0, {0, 1}).histogram = text;
    return judgeFacts(facts_);
  };
  EXPECT_EQ(histogram("[[-20,99],[-19,0],[1,1],[2,0]]").verdict, Verdict::Pass);  // 1 of 100
  const Outcome fired = histogram("[[-20,100],[-19,0],[1,1],[2,0]]");
  EXPECT_EQ(fired.verdict, Verdict::Fired);
  EXPECT_THAT(fired.message,
              HasSubstr("% of the elements of fc.tanh_input (tensors) are within ±8.752"));
  EXPECT_EQ(histogram("[[0,5],[0,0]]").verdict, Verdict::Pass);
  const Outcome split = histogram("[[8.5,100],[9,0]]");
  EXPECT_EQ(split.verdict, Verdict::Insufficient);
  EXPECT_THAT(split.message, HasSubstr("save = true"));
  for (const char* bad : {"", "{}", "[[1]]", "[1,2]", "[[\"a\",1],[2,0]]", "[[1,1],[]]"})
    EXPECT_THAT(histogram(bad).message, HasSubstr("has no histogram")) << bad;
}

TEST_F(SaturatedActivation, IsInsufficientWithoutInputsOrWithNan) {
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("'*tanh_input*' or '*sigmoid_input*'"));
  test::addSaved(facts_, "tanh_input", "tensors", 0, {0, std::nan("")}, "2,1,");
  EXPECT_EQ(verdict(), Verdict::Insufficient);
}

}  // namespace
}  // namespace sonde::rules
