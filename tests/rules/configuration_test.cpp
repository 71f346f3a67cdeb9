#include "rules/configuration/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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
  const auto byThemselves =
      std::count_if(builtinRules().begin(), builtinRules().end(), [](const RuleInfo& rule) {
        return rule.runsByItself == RunsByItself::Always;
      });
  EXPECT_EQ(configuration->rules.size(), static_cast<std::size_t>(byThemselves));
  for (const ConfiguredRule& rule : configuration->rules)
    EXPECT_EQ(rule.severity, Severity::Warning);
}

TEST(Configuration, AProfileChoosesItsRulesAndTheirSeverity) {
  for (const auto& [profile, severity] : {std::pair("ci", Severity::Error),
                                          std::pair("production", Severity::Error),
                                          std::pair("performance", Severity::Warning)}) {
    const auto configuration = defaultConfiguration(profile);
    ASSERT_TRUE(configuration);
    EXPECT_FALSE(configuration->rules.empty()) << profile;
    EXPECT_LT(configuration->rules.size(), builtinRules().size()) << profile;
    for (const ConfiguredRule& rule : configuration->rules) {
      EXPECT_EQ(rule.severity, severity);
      EXPECT_TRUE(profile == std::string_view("production") ? rule.info->isForProduction
                                                            : wordOf(rule.info->profile) == profile)
          << rule.info->name;
    }
  }
  EXPECT_FALSE(defaultConfiguration("cl"));
}

TEST(Configuration, AFileWithoutARuleIsRefused) {
  EXPECT_THAT(errorOf("[rules]\n"), StartsWith("sonde.toml:1:1: the file has no rule: add one"));
  EXPECT_THAT(errorOf("\n[rules]\n[sql]\n[stop]\ngrace_s = 1\n"),
              StartsWith("sonde.toml:2:1: the file has no rule"));
  EXPECT_THAT(errorOf("[sql]\n"), StartsWith("sonde.toml:1:1: the file has no rule"));
  EXPECT_TRUE(parseConfiguration("[rules]\nhang = \"off\"\n", "f", "")) << "named, and off";
  EXPECT_TRUE(parseConfiguration("[sql.a]\nquery = \"SELECT 1\"\n", "f", ""));
}

TEST(Configuration, AnAliasNamesARuleToo) {
  const auto configuration = parseConfiguration("[rules]\nStepOutlier = \"error\"\n", "f", "");
  ASSERT_TRUE(configuration);
  ASSERT_EQ(configuration->rules.size(), 1U);
  EXPECT_EQ(configuration->rules.front().info->name, "step-outlier");
}

TEST(Configuration, ReadsSuppressions) {
  const auto configuration = parseConfiguration(
      "[rules]\nstep-outlier = \"error\"\n[[suppress]]\nrule = \"step-*\"\nreason = \"known\"\n"
      "until = 2027-01-05\n",
      "f",
      "");
  ASSERT_TRUE(configuration) << configuration.error().message;
  ASSERT_EQ(configuration->suppressions.size(), 1U);
  EXPECT_EQ(configuration->suppressions[0].rule, "step-*");
  EXPECT_EQ(configuration->suppressions[0].entity, "*");
  EXPECT_EQ(configuration->suppressions[0].reason, "known");
  EXPECT_EQ(configuration->suppressions[0].until, "2027-01-05");
}

TEST(Configuration, ASuppressionNeedsItsReasonAndItsLastDay) {
  const std::string rules = "[rules]\nstep-outlier = \"error\"\n";
  EXPECT_EQ(errorOf(rules + "[[suppress]]\nrule = \"a\"\nuntil = 2027-01-05\n"),
            "sonde.toml:3:1: a suppression needs 'reason': add it");
  EXPECT_EQ(errorOf(rules + "[[suppress]]\nrule = \"a\"\nreason = \"b\"\nuntil = \"2027\"\n"),
            "sonde.toml:6:9: a suppression needs its last day: write until = 2027-01-31, without "
            "quotes");
  EXPECT_EQ(errorOf(rules + "[[suppress]]\nrule = 3\n"),
            "sonde.toml:4:8: 'rule' must be a text that is not empty");
  EXPECT_EQ(
      errorOf(rules + "[[suppress]]\nrules = \"a\"\n"),
      "sonde.toml:4:1: unknown key 'rules': a suppression has rule, entity, reason and until");
  EXPECT_EQ(errorOf(rules + "[suppress]\nrule = \"a\"\n"),
            "sonde.toml:3:1: 'suppress' must be a list of tables: write [[suppress]]");
}

TEST(Configuration, RunsOnlyTheRulesThatTheFileNames) {
  const auto configuration = parseConfiguration("[rules]\nstep-outlier = \"error\"\n", "f", "");
  ASSERT_TRUE(configuration);
  ASSERT_EQ(configuration->rules.size(), 1U);
  EXPECT_EQ(configuration->rules.front().info->name, "step-outlier");
  EXPECT_EQ(configuration->rules.front().severity, Severity::Error);
}

TEST(Configuration, ReadsParametersOfBothForms) {
  const auto configuration = parseConfiguration(
      "[rules]\nloss-not-decreasing = { severity = \"info\", scalar = \"train/loss\", min_drop = 1 "
      "}\n"
      "[rules.step-outlier]\nwindow = 50\n",
      "f",
      "ci");
  ASSERT_TRUE(configuration) << configuration.error().message;
  ASSERT_EQ(configuration->rules.size(), 2U);
  const ConfiguredRule& loss = configuration->rules.at(0);
  EXPECT_EQ(loss.severity, Severity::Info);
  EXPECT_EQ(loss.parameters.text("scalar"), "train/loss");
  EXPECT_DOUBLE_EQ(loss.parameters.real("min_drop"), 1);
  EXPECT_EQ(configuration->rules.at(1).parameters.integer("window"), 50);
  EXPECT_EQ(configuration->rules.at(1).severity, Severity::Error);  // the profile's default
}

TEST(Configuration, OffIsOff) {
  const auto configuration = parseConfiguration("[rules]\nstep-outlier = \"off\"\n", "f", "");
  ASSERT_TRUE(configuration);
  EXPECT_TRUE(configuration->rules.empty());
}

TEST(Configuration, ErrorsNameThePlaceAndSuggest) {
  EXPECT_EQ(errorOf("[rules]\nstep-outlyer = \"error\"\n"),
            "sonde.toml:2:1: there is no rule 'step-outlyer': did you mean 'step-outlier'?");
  EXPECT_EQ(errorOf("[rules]\nstep-outlier = \"error\"\nStepOutlier = \"error\"\n"),
            "sonde.toml:2:1: the rule 'step-outlier' is there twice, also by its alias: keep one");
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
