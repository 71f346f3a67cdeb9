// The exit status of a check with a limit of warnings.
#include "rules/engine/check.h"
#include "tests/rules/report_samples.h"

#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using test::resultOf;

TEST(MaxWarnings, CountsOnlyWarningsThatFiredAndCount) {
  CheckReport report;
  report.results = {resultOf(Verdict::Fired, Severity::Warning, ""),
                    resultOf(Verdict::Fired, Severity::Warning, ""),
                    resultOf(Verdict::Fired, Severity::Info, ""),
                    resultOf(Verdict::Insufficient, Severity::Warning, ""),
                    resultOf(Verdict::Fired, Severity::Warning, "")};
  report.results[4].suppressed = "known";
  EXPECT_EQ(report.exitStatus(), 0);
  EXPECT_EQ(report.exitStatus(2), 0);
  EXPECT_EQ(report.exitStatus(1), 1);
  EXPECT_EQ(report.exitStatus(0), 1);
}

TEST(MaxWarnings, ComesBeforeRulesWithoutAVerdict) {
  CheckReport report;
  report.results = {resultOf(Verdict::Fired, Severity::Warning, ""),
                    resultOf(Verdict::Insufficient, Severity::Error, "")};
  EXPECT_EQ(report.exitStatus(1), 4);
  EXPECT_EQ(report.exitStatus(0), 1);
  report.results.push_back(resultOf(Verdict::Error, Severity::Info, ""));
  EXPECT_EQ(report.exitStatus(1), 3);
  EXPECT_EQ(report.exitStatus(0), 1);
}

}  // namespace
}  // namespace sonde::rules
