// The text report with explanations.
#include "rules/engine/rule.h"
#include "rules/reporters/reporters.h"
#include "tests/rules/report_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using test::resultOf;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TextReport, ExplainsAllButPasses) {
  CheckReport report;
  report.results = {resultOf(Verdict::Pass, Severity::Error, "healthy"),
                    resultOf(Verdict::Fired, Severity::Error, "3 of 10")};
  Outcome& outcome = report.results[1].outcome;
  outcome.value = 0.3;
  outcome.threshold = 0.05;
  outcome.window = "iterations 5-14";
  outcome.samples = 10;
  outcome.evidence = {{"outliers", std::int64_t{3}}, {"worst", std::vector<std::int64_t>{7, 9}}};
  outcome.time = TimeRange{100, 900};
  outcome.query = "SELECT 1";
  outcome.locations = {{"t.py", 4, "f"}, {"u.py", 0, ""}};
  outcome.hint = "look";
  outcome.next = {"sonde report TRACE"};
  RuleInfo info = *findRule("step-outlier");
  info.details = "first line\nsecond line";
  info.parameters = {{"k", std::int64_t{3}, "", 0, 9}};
  const std::string text =
      renderExplained(report, {{{&info, Severity::Error, Parameters(info.parameters)}}, {}});
  EXPECT_EQ(text,
            "fired         error    step-outlier  rank 0  3 of 10\n"
            "              rule: first line\n"
            "              second line\n"
            "              parameters: k = 3\n"
            "              value: 0.3\n"
            "              threshold: 0.05\n"
            "              window: iterations 5-14, 10 samples\n"
            "              outliers: 3\n"
            "              worst: 7, 9\n"
            "              time: 100 to 900 ns\n"
            "              code: t.py:4 (f)\n"
            "              code: u.py\n"
            "              query: SELECT 1\n"
            "              hint: look\n"
            "              next: sonde report TRACE\n"
            "pass          error    step-outlier  rank 0  healthy\n"
            "1 fired, 1 pass\n");
}

TEST(TextReport, SkippedAndUnrecordedRulesShareALine) {
  CheckReport report = test::everyKind();
  report.results.push_back(resultOf(Verdict::Skipped, Severity::Error, "one rank", "straggler"));
  report.results.push_back(
      resultOf(Verdict::Insufficient, Severity::Info, "no tensors", "all-zero"));
  report.results.back().isUnasked = true;
  const std::string text = renderText(report);
  EXPECT_THAT(text, HasSubstr("\nskipped: step-outlier (1 of 10), straggler\n"));
  EXPECT_THAT(text, HasSubstr("\nnot recorded: all-zero, step-outlier (1 of 10)\n"));
  EXPECT_THAT(text, Not(HasSubstr("one rank")));
  EXPECT_THAT(renderExplained(report, {}),
              AllOf(HasSubstr("one rank"), HasSubstr("not judged: step-outlier, all-zero: no")));
}

}  // namespace
}  // namespace sonde::rules
