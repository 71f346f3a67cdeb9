#include "rules/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::StartsWith;

std::string errorOf(const std::string& text) {
  const auto configuration = parseConfiguration(text, "sonde.toml", "");
  EXPECT_FALSE(configuration);
  if (configuration)
    return "";
  EXPECT_EQ(configuration.error().code, ErrorCode::InvalidArgument);
  return configuration.error().message;
}

TEST(Configuration, WithoutAFileAllRulesAreWarnings) {
  const auto configuration = defaultConfiguration("");
  ASSERT_TRUE(configuration);
  EXPECT_EQ(configuration->size(), builtinRules().size());
  for (const ConfiguredRule& rule : *configuration)
    EXPECT_EQ(rule.severity, Severity::Warning);
}

TEST(Configuration, TheCiProfileLeavesMachineIndependentRulesAsErrors) {
  const auto configuration = defaultConfiguration("ci");
  ASSERT_TRUE(configuration);
  ASSERT_EQ(configuration->size(), 1U);
  EXPECT_EQ(configuration->front().info->name, "loss-not-decreasing");
  EXPECT_EQ(configuration->front().severity, Severity::Error);
  EXPECT_FALSE(defaultConfiguration("cl"));
}

TEST(Configuration, RunsOnlyTheRulesThatTheFileNames) {
  const auto configuration = parseConfiguration("[rules]\nstep-outlier = \"error\"\n", "f", "");
  ASSERT_TRUE(configuration);
  ASSERT_EQ(configuration->size(), 1U);
  EXPECT_EQ(configuration->front().info->name, "step-outlier");
  EXPECT_EQ(configuration->front().severity, Severity::Error);
}

TEST(Configuration, ReadsParametersOfBothForms) {
  const auto configuration = parseConfiguration(
      "[rules]\nloss-not-decreasing = { severity = \"info\", scalar = \"train/loss\", min_drop = 1 "
      "}\n"
      "[rules.step-outlier]\nwindow = 50\n",
      "f",
      "ci");
  ASSERT_TRUE(configuration) << configuration.error().message;
  ASSERT_EQ(configuration->size(), 2U);
  const ConfiguredRule& loss = configuration->at(0);
  EXPECT_EQ(loss.severity, Severity::Info);
  EXPECT_EQ(loss.parameters.text("scalar"), "train/loss");
  EXPECT_DOUBLE_EQ(loss.parameters.real("min_drop"), 1);
  EXPECT_EQ(configuration->at(1).parameters.integer("window"), 50);
  EXPECT_EQ(configuration->at(1).severity, Severity::Error);  // the profile's default
}

TEST(Configuration, OffIsOff) {
  const auto configuration = parseConfiguration("[rules]\nstep-outlier = \"off\"\n", "f", "");
  ASSERT_TRUE(configuration);
  EXPECT_TRUE(configuration->empty());
}

TEST(Configuration, ErrorsNameThePlaceAndSuggest) {
  EXPECT_EQ(errorOf("[rules]\nstep-outlyer = \"error\"\n"),
            "sonde.toml:2:1: there is no rule 'step-outlyer': did you mean 'step-outlier'?");
  EXPECT_EQ(errorOf("[rules]\nStepOutlier = \"error\"\n"),
            "sonde.toml:2:1: there is no rule 'StepOutlier': did you mean 'step-outlier'?");
  EXPECT_EQ(errorOf("[rules]\nqwertzuiop = \"error\"\n"),
            "sonde.toml:2:1: there is no rule 'qwertzuiop': `sonde rules` lists the rules");
  EXPECT_EQ(errorOf("[rules]\n  step-outlier = { windows = 3 }\n"),
            "sonde.toml:2:20: rule step-outlier: it has no parameter 'windows'; did you mean "
            "'window'?: see `sonde "
            "rules step-outlier`");
  EXPECT_EQ(errorOf("[rules]\nstep-outlier = { window = \"many\" }\n"),
            "sonde.toml:2:18: rule step-outlier: parameter 'window' must be of type integer, not "
            "text: see `sonde rules "
            "step-outlier`");
  EXPECT_EQ(errorOf("[rules]\nstep-outlier = { max_share = 1.5 }\n"),
            "sonde.toml:2:18: rule step-outlier: parameter 'max_share' is 1.5, but must lie from 0 "
            "to 1: see `sonde "
            "rules step-outlier`");
  EXPECT_EQ(errorOf("[rules]\nstep-outlier = { window = 2.5 }\n"),
            "sonde.toml:2:18: rule step-outlier: parameter 'window' must be of type integer, not "
            "number: see `sonde "
            "rules step-outlier`");
  EXPECT_EQ(errorOf("[rules]\nstep-outlier = { window = [1] }\n"),
            "sonde.toml:2:27: rule step-outlier: parameter 'window' must be a number or a text");
  EXPECT_EQ(
      errorOf("[rules]\nstep-outlier = \"fatal\"\n"),
      "sonde.toml:2:16: a severity is expected: use \"off\", \"info\", \"warning\" or \"error\"");
  EXPECT_EQ(errorOf("step-outlier = \"error\"\n"),
            "sonde.toml:1:1: unknown key 'step-outlier': put rules into a table [rules]");
  EXPECT_EQ(errorOf(""),
            "sonde.toml:1:1: there is no table [rules]: add one with the rules to run");
  EXPECT_THAT(errorOf("[rules\n"), StartsWith("sonde.toml:1:7: "));
}

TEST(Configuration, AFileThatIsNotThereIsAConfigurationError) {
  const auto configuration = readConfiguration("/no/such/sonde.toml", "");
  ASSERT_FALSE(configuration);
  EXPECT_EQ(configuration.error().code, ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace sonde::rules
