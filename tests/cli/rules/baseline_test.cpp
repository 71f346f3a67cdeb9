// `sonde check --baseline`, by the built program.
#include "tests/cli/rules/baseline_fixture.h"

#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Finished;
using test::kMs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(BaselineVerb, ASlowerRunFiresWithItsNumbers) {
  writeRuns("before", 5, 0);
  const auto now = writeRuns("now", 5, 5 * kMs);
  const std::vector<std::string> repeats(now.begin() + 1, now.end());
  const json report = check(
      joined({now[0], "--rules", rules(kError), "--baseline", folder_ / "before", "--repeats"},
             repeats),
      1);
  const json iteration = resultOf(report, "iteration");
  EXPECT_EQ(iteration["verdict"], "fired");
  EXPECT_NEAR(iteration["value"].get<double>(), 107.04 / 102.04 - 1, 1e-3);
  EXPECT_EQ(iteration["threshold"], 0.03);
  EXPECT_EQ(iteration["evidence"]["runs_before"], 5);
  EXPECT_EQ(iteration["evidence"]["runs_now"], 5);
  EXPECT_EQ(iteration["evidence"]["iterations_now"], 135);
  EXPECT_EQ(iteration["samples"], 135);
  EXPECT_THAT(iteration["message"].get<std::string>(),
              AllOf(StartsWith("4.9 % slower than the baseline ("),
                    HasSubstr("5 runs of 135 iterations against 5 of 135")));
}

TEST_F(BaselineVerb, AnEqualRunPassesAndSaysWhatWouldHaveBeenSeen) {
  const auto before = writeRuns("before", 5, 0);
  const json report = check(
      {writeRun("now.sonde", 2 * kMs), "--rules", rules(kError), "--baseline", folder_ / "before"},
      0);
  const json iteration = resultOf(report, "iteration");
  EXPECT_EQ(iteration["verdict"], "pass");
  EXPECT_GT(iteration["evidence"]["detectable"].get<double>(), 0);
  EXPECT_LT(iteration["evidence"]["detectable"].get<double>(), 0.1);
  EXPECT_THAT(iteration["message"].get<std::string>(),
              AllOf(StartsWith("not slower than the baseline; a slowdown of "),
                    HasSubstr("would have been seen")));
  EXPECT_EQ(report["results"].size(), 1U);
}

TEST_F(BaselineVerb, WhatIsSlowerByLessThanMinEffectPasses) {
  writeRuns("before", 5, 0);
  const auto now = writeRuns("now", 5, 5 * kMs);
  const std::vector<std::string> words =
      joined({now[0], "--baseline", folder_ / "before", "--repeats"}, {now.begin() + 1, now.end()});
  const auto verdictAt = [&](const std::string& minEffect, int status) {
    const std::string file = rules(
        "regression = { severity = \"error\", min_effect = " + minEffect + ", by = \"kernel\" }\n");
    return resultOf(check(joined(words, {"--rules", file}), status), "iteration")["verdict"];
  };
  EXPECT_EQ(verdictAt("0.048", 1), "fired");
  EXPECT_EQ(verdictAt("0.05", 0), "pass");
}

TEST_F(BaselineVerb, OneRunASideIsTooFewToPass) {
  const json report = check({writeRun("now.sonde", 0),
                             "--rules",
                             rules(kError),
                             "--baseline",
                             writeRun("before.sonde", 0)},
                            4);
  EXPECT_EQ(resultOf(report, "iteration")["verdict"], "insufficient");
  EXPECT_THAT(resultOf(report, "iteration")["message"].get<std::string>(),
              AllOf(HasSubstr("resolution = 10 %"), HasSubstr("record more runs a side")));
  const std::string coarse = rules("regression = { severity = \"error\", resolution = 0.5 }\n");
  EXPECT_EQ(sonde({"check",
                   folder_ / "now.sonde",
                   "--rules",
                   coarse,
                   "--baseline",
                   folder_ / "before.sonde"})
                .status,
            0);
}

TEST_F(BaselineVerb, TooFewIterationsAreInsufficient) {
  const json report = check({writeRun("now.sonde", 0, 3),
                             "--rules",
                             rules(kError),
                             "--baseline",
                             writeRun("before.sonde", 0, 3)},
                            4);
  EXPECT_THAT(resultOf(report, "iteration")["message"].get<std::string>(),
              StartsWith("too few iterations to compare"));
}

TEST_F(BaselineVerb, WithoutABaselineANamedRuleIsInsufficientAndNobodyElseSeesIt) {
  const std::string run = writeRun("now.sonde", 0);
  const json report = check({run, "--rules", rules(kError)}, 4);
  EXPECT_THAT(resultOf(report, "job")["message"].get<std::string>(),
              HasSubstr("give --baseline to sonde check"));
  EXPECT_EQ(resultOf(check({run}, 0), "job"), nullptr);
}

TEST_F(BaselineVerb, WithoutAFileItRunsInEveryProfileWithItsSeverity) {
  writeRuns("before", 5, 0);
  const std::string now = writeRun("now.sonde", 2 * kMs);
  for (const auto& [profile, severity] : {std::pair("ci", "error"),
                                          std::pair("production", "error"),
                                          std::pair("performance", "warning")}) {
    const Finished finished = sonde(
        {"check", now, "--profile", profile, "--format", "json", "--baseline", folder_ / "before"});
    EXPECT_EQ(resultOf(json::parse(finished.out), "iteration")["severity"], severity);
  }
  const json plain = check({now, "--baseline", folder_ / "before"}, 0);
  EXPECT_EQ(resultOf(plain, "iteration")["severity"], "warning");
  const Finished plan = sonde({"check", now, "--dry-run", "--baseline", folder_ / "before"});
  EXPECT_THAT(plan.out, HasSubstr("regression"));
}

TEST_F(BaselineVerb, AFileOfRulesThatComparesNothingIsNoted) {
  const json report = check({writeRun("now.sonde", 0),
                             "--rules",
                             rules("step-outlier = \"info\"\n"),
                             "--baseline",
                             writeRun("before.sonde", 0)},
                            0);
  EXPECT_THAT(report["notes"].dump(), HasSubstr("add regression to [rules]"));
}

TEST_F(BaselineVerb, AWrongWordOfByIsAnErrorOfTheFile) {
  const Finished wrong = sonde({"check",
                                writeRun("now.sonde", 0),
                                "--rules",
                                rules("regression = { by = \"operation,colour\" }\n"),
                                "--baseline",
                                writeRun("before.sonde", 0)});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("rules.toml:2:"), HasSubstr("has the word 'colour'")));
}

TEST_F(BaselineVerb, OtherHardwareIsRefusedUnlessForced) {
  const auto before = writeRuns("before", 5, 0);
  const std::string now = writeRun("now.sonde", 2 * kMs);
  for (const std::string& each : before)
    change(each, "UPDATE host SET cpu_model = 'Old 1', cpu_count = 8");
  change(now, "UPDATE host SET cpu_model = 'New 2', cpu_count = 16");
  change(now,
         "INSERT INTO device(id, host_id, kind, ordinal, name, memory_bytes) SELECT 900, id, "
         "'gpu', 0, 'H200', 150323855360 FROM host");
  const std::string file = accept(before);
  for (const std::string& baseline : {std::string(folder_ / "before"), file}) {
    const std::vector<std::string> words = {"check", now, "--baseline", baseline};
    const Finished refused = sonde(words);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err,
                AllOf(HasSubstr("ran on Old 1, 8 cores"),
                      HasSubstr("ran on New 2, 16 cores, H200 (140.0 GiB)"),
                      HasSubstr("--force")));
    const Finished forced = sonde(joined(words, {"--force", "--format", "json"}));
    EXPECT_EQ(forced.status, 0);
    EXPECT_THAT(json::parse(forced.out)["notes"].dump(), HasSubstr("different hardware"));
  }
  const Finished mixed =
      sonde({"baseline", "accept", before[0], now, "-o", folder_ / "mixed.json"});
  EXPECT_EQ(mixed.status, 2);
  EXPECT_THAT(mixed.err, HasSubstr("accept runs of the same hardware"));
  EXPECT_FALSE(fs::exists(folder_ / "mixed.json"));
}

TEST_F(BaselineVerb, OptionsThatNeedABaselineAreRefusedWithoutOne) {
  const std::string run = writeRun("now.sonde", 0);
  const std::string other = writeRun("other.sonde", 0);
  for (const auto& [words, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"check", run, "--force"}, "--force is for --baseline"},
           {{"check", run, "--repeats", other}, "--repeats is for --baseline"},
           {{"check", run, "--baseline", other, "-o", other}, "would overwrite the input"},
           {{"check", run, "--baseline", other, "--repeats", run}, "give each trace once"},
           {{"check", run, "--baseline", other, other}, "give each trace once"}}) {
    const Finished refused = sonde(words);
    EXPECT_EQ(refused.status, 2) << message;
    EXPECT_THAT(refused.err, HasSubstr(message));
  }
  EXPECT_EQ(sonde({"check", run, "--baseline", folder_ / "none.sonde"}).status, 3);
}

}  // namespace
}  // namespace sonde::cli
