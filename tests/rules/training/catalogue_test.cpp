#include "rules/builtin/training/training_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace sonde::rules {
namespace {

TEST(TrainingRules, EachExplainsItselfAndItsParameters) {
  for (const RuleInfo& info : trainingRules()) {
    EXPECT_EQ(info.profile, Profile::Ci) << info.name;
    EXPECT_FALSE(info.summary.empty() || info.details.empty() || info.needs.empty()) << info.name;
    EXPECT_FALSE(info.hint.empty() || info.hint.back() == '.') << info.name;
    EXPECT_FALSE(info.next.empty()) << info.name;
    for (const ParameterSpec& parameter : info.parameters) {
      EXPECT_FALSE(parameter.help.empty()) << info.name << " " << parameter.name;
      if (std::holds_alternative<std::string>(parameter.fallback) ||
          parameter.name == "converged_below")
        continue;
      EXPECT_TRUE(std::isfinite(parameter.minimum)) << info.name << " " << parameter.name;
    }
  }
}

TEST(TrainingRules, KnowTheNamesOfSageMakerDebugger) {
  const std::map<std::string, std::string> names = {
      {"VanishingGradient", "vanishing-gradient"},
      {"ExplodingTensor", "exploding-tensor"},
      {"PoorWeightInitialization", "poor-weight-initialization"},
      {"SaturatedActivation", "saturated-activation"},
      {"DeadRelu", "dead-relu"},
      {"WeightUpdateRatio", "weight-update-ratio"},
      {"AllZero", "all-zero"},
      {"UnchangedTensor", "unchanged-tensor"},
      {"LossNotDecreasing", "loss-not-decreasing"},
      {"Overfit", "overfit"},
      {"Overtraining", "overtraining"},
      {"ClassImbalance", "class-imbalance"},
      {"Confusion", "confusion"},
      {"TensorVariance", "tensor-variance"},
      {"NLPSequenceRatio", "nlp-sequence-ratio"},
      {"CheckInputImages", "check-input-images"},
      {"FeatureImportanceOverweight", "feature-importance-overweight"},
      {"TreeDepth", "tree-depth"}};
  for (const auto& [alias, name] : names) {
    const RuleInfo* const info = findRule(alias);
    ASSERT_NE(info, nullptr) << alias;
    EXPECT_EQ(info->name, name);
  }
}

TEST(TrainingRules, ThoseThatStopAJobAreInProduction) {
  for (const char* name : {"exploding-tensor", "first-nan", "diverging-replicas"})
    EXPECT_TRUE(findRule(name)->isForProduction) << name;
}

}  // namespace
}  // namespace sonde::rules
