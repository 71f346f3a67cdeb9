// The SARIF report, checked by another program and read back.
#include "rules/engine/rule.h"
#include "rules/reporters/reporters.h"
#include "tests/rules/report_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::rules {
namespace {

using nlohmann::json;
using test::everyKind;
using test::hostileReport;
using test::kHostile;
using test::resultOf;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The run of a document that keeps to SARIF 2.1.0.
json readSarif(const std::string& document) {
  const test::Finished checked = test::runScript("check_sarif.py", document);
  EXPECT_EQ(checked.status, 0) << checked.err;
  return json::parse(document)["runs"][0];
}

Configuration allRulesOf(std::string_view severity) {
  Configuration configuration;
  for (const RuleInfo& info : builtinRules())
    configuration.rules.push_back({&info, *severityOf(severity), Parameters(info.parameters)});
  return configuration;
}

TEST(SarifReport, GivesEachResultItsKindAndLevel) {
  const json run = readSarif(renderSarif(everyKind(), allRulesOf("error"), {.version = "1.2.3"}));
  EXPECT_EQ(run["tool"]["driver"]["name"], "Sonde");
  EXPECT_EQ(run["tool"]["driver"]["version"], "1.2.3");
  const auto& rules = run["tool"]["driver"]["rules"];
  ASSERT_EQ(rules.size(), builtinRules().size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    EXPECT_EQ(rules[i]["id"], builtinRules()[i].name);
    EXPECT_EQ(rules[i]["shortDescription"]["text"], builtinRules()[i].summary);
    EXPECT_EQ(rules[i]["fullDescription"]["text"], builtinRules()[i].details);
    EXPECT_THAT(rules[i]["help"]["text"].get<std::string>(), HasSubstr(builtinRules()[i].hint));
    EXPECT_EQ(rules[i]["defaultConfiguration"]["level"], "error");
  }
  std::vector<std::pair<std::string, std::string>> kinds;  // the most serious first
  for (const json& result : run["results"])
    kinds.emplace_back(result["kind"], result["level"]);
  using Pair = std::pair<std::string, std::string>;
  EXPECT_THAT(kinds,
              ::testing::ElementsAre(Pair("fail", "error"),
                                     Pair("fail", "warning"),
                                     Pair("fail", "note"),
                                     Pair("fail", "error"),
                                     Pair("open", "none"),
                                     Pair("open", "none"),
                                     Pair("open", "none"),
                                     Pair("open", "none"),
                                     Pair("pass", "none"),
                                     Pair("notApplicable", "none")));
  const json& known = run["results"][3];
  EXPECT_EQ(known["suppressions"].dump(),
            R"-([{"justification":"repair (until 2027-01-05)","kind":"external",)-"
            R"-("status":"accepted"}])-");
  EXPECT_TRUE(run["results"][0]["suppressions"].empty());
  const json& invocation = run["invocations"][0];
  EXPECT_EQ(invocation["executionSuccessful"], false);
  EXPECT_EQ(invocation["toolExecutionNotifications"][0]["message"]["text"],
            "step-outlier: rank 0: broken");
  EXPECT_EQ(invocation["toolConfigurationNotifications"][0]["message"]["text"], "a note");
}

TEST(SarifReport, NamesCodeByUrisBelowTheSources) {
  CheckReport report;
  report.results = {resultOf(Verdict::Fired, Severity::Error, "m"),
                    resultOf(Verdict::Fired, Severity::Error, "m"),
                    resultOf(Verdict::Fired, Severity::Error, "{0} of }")};
  report.results[0].outcome.locations = {{"/src/my job/tr\xC3\xA4in.py", 12, "forward"},
                                         {"/usr/lib/a:b%.py", 0, ""}};
  report.results[1].entity = "rank 1: fc1.weight";
  report.results[1].outcome.locations = {{"/srcs/x.py", 3, ""}};
  const json run = readSarif(renderSarif(
      report, {}, {.version = "1", .sourceRoot = "/src/", .subject = "/src/conf/sonde.toml"}));
  const json& first = run["results"][0]["locations"];
  EXPECT_EQ(first[0]["physicalLocation"]["artifactLocation"]["uri"], "my%20job/tr%C3%A4in.py");
  EXPECT_EQ(first[0]["physicalLocation"]["artifactLocation"]["uriBaseId"], "%SRCROOT%");
  EXPECT_EQ(first[0]["physicalLocation"]["region"]["startLine"], 12);
  EXPECT_EQ(first[0]["logicalLocations"], json::parse(R"([{"name": "forward", "kind": "function"},
                            {"name": "rank 0", "kind": "process"}])"));
  EXPECT_EQ(first[1]["physicalLocation"]["artifactLocation"]["uri"], "file:///usr/lib/a%3Ab%25.py");
  EXPECT_FALSE(first[1]["physicalLocation"].contains("region"));
  const json& second = run["results"][1]["locations"][0];
  EXPECT_EQ(second["physicalLocation"]["artifactLocation"]["uri"], "file:///srcs/x.py");
  EXPECT_EQ(second["logicalLocations"][0],
            json::parse(R"({"name": "fc1.weight", "fullyQualifiedName": "rank 1: fc1.weight"})"));
  const json& third = run["results"][2];
  EXPECT_EQ(third["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "conf/sonde.toml");
  EXPECT_EQ(third["message"]["text"], "rank 0: {{0}} of }}");
  EXPECT_FALSE(third.contains("ruleIndex"));  // the configuration does not have it
}

TEST(SarifReport, FingerprintsStayWhenOnlyValuesChange) {
  const auto fingerprint = [](const CheckResult& result) {
    CheckReport report;
    report.results = {result};
    const json run = json::parse(renderSarif(report, {}, {.version = "1", .sourceRoot = "/a"}));
    const json& found = run["runs"][0]["results"][0]["partialFingerprints"];
    EXPECT_EQ(found["primaryLocationLineHash"].get<std::string>(),
              found["sondeFinding/v1"].get<std::string>() + ":1");
    return found["sondeFinding/v1"].get<std::string>();
  };
  CheckResult result = resultOf(Verdict::Fired, Severity::Error, "3 of 100");
  // FNV-1a of "step-outlier\nrank 0", by another implementation.
  EXPECT_EQ(fingerprint(result), "bc109f1bd57bb84e");
  CheckResult other = result;
  other.outcome.message = "7 of 200";
  other.outcome.value = 7;
  other.outcome.window = "iterations 0-200";
  other.severity = Severity::Warning;
  EXPECT_EQ(fingerprint(other), fingerprint(result));
  other.entity = "rank 1";
  EXPECT_NE(fingerprint(other), fingerprint(result));
  other = result;
  other.outcome.locations = {{"/a/t.py", 3, "f"}};
  CheckResult moved = other;
  moved.outcome.locations = {{"/a/t.py", 9, "f"}, {"/a/u.py", 1, "g"}};
  EXPECT_NE(fingerprint(other), fingerprint(result));
  EXPECT_EQ(fingerprint(moved), fingerprint(other));
  moved.outcome.locations[0].function = "";
  EXPECT_NE(fingerprint(moved), fingerprint(other));
}

TEST(SarifReport, FindingsOnlyLeavesOutWhatIsNoAlert) {
  const json run = readSarif(
      renderSarif(everyKind(), allRulesOf("info"), {.version = "1", .onlyFindings = true}));
  std::vector<std::string> messages;
  for (const json& result : run["results"])
    messages.push_back(result["message"]["text"]);
  EXPECT_THAT(
      messages,
      ::testing::ElementsAre("rank 0: fired error", "rank 0: fired warning", "rank 0: fired info"));
  EXPECT_EQ(run["tool"]["driver"]["rules"][0]["defaultConfiguration"]["level"], "note");
}

TEST(SarifReport, KeepsTheMostSeriousOfTooManyResults) {
  CheckReport report;
  report.results.assign(5000, resultOf(Verdict::Pass, Severity::Error, "healthy"));
  const auto leftOut = [&] {
    const json run = readSarif(renderSarif(report, {}, {.version = "1"}));
    EXPECT_EQ(run["results"].size(), 5000U);
    return run["invocations"][0]["toolExecutionNotifications"];
  };
  EXPECT_TRUE(leftOut().empty());
  report.results.push_back(resultOf(Verdict::Fired, Severity::Error, "last"));
  EXPECT_EQ(leftOut()[0]["message"]["text"], "1 less serious results are left out");
  EXPECT_EQ(readSarif(renderSarif(report, {}, {.version = "1"}))["results"][0]["kind"], "fail");
}

TEST(SarifReport, HostileTextStaysAJsonDocument) {
  const json run = readSarif(renderSarif(hostileReport(),
                                         allRulesOf("error"),
                                         {.version = "1", .sourceRoot = "/", .subject = kHostile}));
  const json& result = run["results"][0];
  EXPECT_THAT(result["ruleId"].get<std::string>(), StartsWith("a b/\xC3\xBC&<x>\"'|"));
  EXPECT_TRUE(result["properties"]["value"].is_null());
  EXPECT_TRUE(result["properties"]["evidence"]["nan"].is_null());
  EXPECT_THAT(
      result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].get<std::string>(),
      AllOf(StartsWith("a%20b/%C3%BC%26%3Cx%3E"), HasSubstr("%0D%0A%09%01%1B%5B1m%00%FF")));
}

}  // namespace
}  // namespace sonde::rules
