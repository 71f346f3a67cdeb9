// `sonde baseline` and its files, and confirmations, by the built program.
#include "cli/verbs/check_confirm.h"
#include "rules/configuration/configuration.h"
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

TEST_F(BaselineVerb, AFileGivesTheSameResultsAsItsTraces) {
  const auto before = writeRuns("before", 5, 0);
  const auto now = writeRuns("now", 5, 5 * kMs);
  const std::string file = accept({folder_ / "before"});
  for (const std::vector<std::string>& judged :
       {std::vector<std::string>{now[0]},
        joined({now[0], "--repeats"}, {now.begin() + 1, now.end()}),
        std::vector<std::string>{writeRun("same.sonde", 2 * kMs)}}) {
    const std::vector<std::string> words =
        joined(judged, {"--profile", "performance", "--format", "json", "--baseline"});
    const Finished byTraces = sonde(joined({"check"}, joined(words, {folder_ / "before"})));
    const Finished byFile = sonde(joined({"check"}, joined(words, {file})));
    EXPECT_EQ(byTraces.status, byFile.status);
    EXPECT_EQ(regressionsIn(byTraces.out), regressionsIn(byFile.out));
    EXPECT_FALSE(regressionsIn(byFile.out).empty());
  }
}

TEST_F(BaselineVerb, AFileLacksPartsThatWereNotAccepted) {
  const std::string file = accept({writeRun("before.sonde", 0)});
  const json report =
      check({writeRun("now.sonde", 0),
             "--baseline",
             file,
             "--rules",
             rules("regression = { severity = \"error\", by = \"operation,phase\" }\n")},
            4);
  EXPECT_THAT(resultOf(report, "iteration")["message"].get<std::string>(),
              AllOf(HasSubstr("has no times by phase"), HasSubstr("--by operation,phase")));
}

TEST_F(BaselineVerb, ShowPrintsWhatWasAccepted) {
  const auto before = writeRuns("before", 2, 0);
  change(before[0], "UPDATE host SET cpu_model = 'Xeon', cpu_count = 8");
  change(before[1], "UPDATE host SET cpu_model = 'Xeon', cpu_count = 8");
  const std::string file = accept(before);
  const Finished text = sonde({"baseline", "show", file});
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("hardware  Xeon, 8 cores\n"),
                    HasSubstr("by        operation,kernel"),
                    HasSubstr("before/run1.sonde")));
  const json shown = jsonOf(sonde({"baseline", "show", file, "--format", "json"}));
  EXPECT_EQ(shown["schema"], 1);
  EXPECT_EQ(shown["runs"].size(), 2U);
  EXPECT_EQ(shown["runs"][0]["iterations"], 27);
  EXPECT_EQ(shown["runs"][0]["iteration_ns"], 102 * kMs);
  EXPECT_THAT(sonde({"baseline", "show", file, "--format", "csv"}).out, StartsWith("name,ranks,"));
}

TEST_F(BaselineVerb, WrongOptionsOfBaselineAreRefused) {
  const std::string run = writeRun("run.sonde", 0);
  const std::string file = accept({run});
  for (const auto& [words, status, message] :
       std::vector<std::tuple<std::vector<std::string>, int, std::string>>{
           {{"accept", run}, 2, "accept needs -o FILE"},
           {{"accept", run, "-o", file}, 2, "-f"},
           {{"accept", run, "-o", run, "-f"}, 2, "would overwrite the input"},
           {{"accept", run, "-o", folder_ / "c.json", "--by", "colour"}, 2, "cannot compare by"},
           {{"accept", run, "-o", folder_ / "c.json", "--format", "json"}, 2, "is for show"},
           {{"accept", folder_ / "no.sonde", "-o", folder_ / "c.json"}, 4, "no.sonde"},
           {{"show", file, "-o", folder_ / "c.json"}, 2, "are for accept"},
           {{"show", file, file}, 2, "give one"},
           {{"show", folder_ / "no.json"}, 3, "cannot be read"},
           {{"remember", run}, 2, "there is no action 'remember'"}}) {
    const Finished refused = sonde(joined({"baseline"}, words));
    EXPECT_EQ(refused.status, status) << message;
    EXPECT_THAT(refused.err, HasSubstr(message));
    EXPECT_EQ(refused.out, "");
  }
  EXPECT_FALSE(fs::exists(folder_ / "c.json"));
}

TEST_F(BaselineVerb, DamagedFilesAreRefusedWithFileAndPath) {
  const std::string run = writeRun("run.sonde", 0);
  const std::string file = accept({run});
  const std::string text = test::readText(file);
  const std::string bad = folder_ / "bad.json";
  const auto refuses = [&](const std::string& content, const std::string& path) {
    test::writeText(bad, content);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"baseline", "show", bad},
          std::vector<std::string>{"check", run, "--baseline", bad}}) {
      const Finished refused = sonde(words);
      EXPECT_EQ(refused.status, 3) << path;
      EXPECT_THAT(refused.err, AllOf(HasSubstr("bad.json: " + path), HasSubstr("baseline accept")));
      EXPECT_EQ(refused.out, "");
    }
  };
  refuses(text.substr(0, text.size() / 2), "$ is not JSON");
  refuses("{", "$ is not JSON");
  const auto with = [&](const std::string& pointer, const json& value) {
    json document = json::parse(text);
    document[json::json_pointer(pointer)] = value;
    return document.dump();
  };
  refuses(with("/schema", 2), "$.schema must be a whole number from 1 to 1, not 2");
  refuses(with("/kind", "other"), "$.kind must be");
  refuses(with("/extra", 1), "$.extra must be left out");
  refuses(with("/created", 5), "$.created must be a text");
  refuses(with("/by/0", "colour"), "$.by[0] must be a word of --by");
  refuses(with("/hardware", "Xeon"), "$.hardware must be a list");
  refuses(with("/hardware/0/cores", -1), "$.hardware[0].cores must be a whole number");
  refuses(with("/runs", json::array()), "$.runs must be a list of 1 to 30");
  refuses(with("/runs/0/iterations", 1e300), "$.runs[0].iterations must be a whole number");
  refuses(with("/runs/0/iterations", 301), "$.runs[0].iterations must be a whole number");
  refuses(with("/runs/0/iterations", 26), "$.runs[0].subjects[0].ns must be a list of 26 to 26");
  refuses(with("/runs/0/costs/noise", 1.5), "$.runs[0].costs.noise must be a number");
  refuses(with("/runs/0/costs/known", "yes"), "$.runs[0].costs.known must be true or false");
  refuses(with("/runs/0/subjects/0/kind", "colour"), "$.runs[0].subjects[0].kind must be one of");
  refuses(with("/runs/0/subjects/0/kind", "phase"), "$.runs[0].subjects must be a list with");
  refuses(with("/runs/0/subjects/1/ns/2", 1.5), "$.runs[0].subjects[1].ns[2] must be a whole");
  refuses(with("/runs/0/subjects/1/ns/2", -1), "$.runs[0].subjects[1].ns[2] must be a whole");
  refuses(with("/runs/0/subjects/1/ns/2", 18446744073709551615U),
          "$.runs[0].subjects[1].ns[2] must be a whole");
  refuses(with("/runs/0/subjects/1/error_ns", -1), "$.runs[0].subjects[1].error_ns must be");
  json twice = json::parse(text);
  twice["runs"][0]["subjects"].push_back(twice["runs"][0]["subjects"][0]);
  const std::string last = std::to_string(twice["runs"][0]["subjects"].size() - 1);
  refuses(twice.dump(), "$.runs[0].subjects[" + last + "] must be there once");
  json without = json::parse(text);
  without["runs"][0].erase("costs");
  refuses(without.dump(), "$.runs[0] must be an object with 'costs'");
}

TEST_F(BaselineVerb, AConfirmationDecidesWhetherASlowdownCounts) {
  writeRuns("before", 5, 0);
  const std::string now = writeRun("now.sonde", 12 * kMs);
  const std::string fast = writeRun("fast.sonde", 2 * kMs);
  const std::string slow = writeRun("slow.sonde", 13 * kMs);
  const auto confirmedBy = [&](const std::string& second, int status) {
    return check({now,
                  "--rules",
                  rules(kError),
                  "--baseline",
                  folder_ / "before",
                  "--confirm",
                  "echo noise; cp '" + second + "' \"$SONDE_CONFIRM\""},
                 status,
                 "noise\n");
  };
  const json isSlow = confirmedBy(slow, 1);
  EXPECT_EQ(isSlow["verdict"], "fired");
  EXPECT_EQ(resultOf(isSlow, "iteration")["suppressed"], nullptr);
  EXPECT_THAT(isSlow["notes"].dump(),
              AllOf(HasSubstr("regression iteration fired, and fired again in the run of --confirm "
                              "(10.7 % slower"),
                    HasSubstr("it counts")));
  const json isFast = confirmedBy(fast, 0);
  EXPECT_EQ(resultOf(isFast, "iteration")["verdict"], "fired");
  EXPECT_EQ(resultOf(isFast, "iteration")["suppressed"],
            "not confirmed by a second run, which is pass");
  EXPECT_THAT(isFast["notes"].dump(),
              AllOf(HasSubstr("is pass in the run of --confirm (not slower than the baseline"),
                    HasSubstr("it does not count")));
}

TEST_F(BaselineVerb, ASecondRunWithTooLittleDataTakesNoFindingBack) {
  writeRuns("before", 5, 0);
  const std::string now = writeRun("now.sonde", 12 * kMs);
  const std::string without = writeRun("without.sonde", 2 * kMs);
  change(without, "DELETE FROM iteration");
  const json report = check({now,
                             "--rules",
                             rules(kError),
                             "--baseline",
                             folder_ / "before",
                             "--confirm",
                             "cp '" + without + "' \"$SONDE_CONFIRM\""},
                            1);
  EXPECT_EQ(report["verdict"], "fired");
  EXPECT_EQ(resultOf(report, "iteration")["suppressed"], nullptr) << report.dump(1);
  EXPECT_THAT(report["notes"].dump(),
              AllOf(HasSubstr("insufficient in the run of --confirm"),
                    HasSubstr("could not be confirmed: it counts")));
}

// Judges by hand: the verdicts of the second run for a rule that fired in the first one.
TEST(Confirmation, OnlyAPassThatCouldHaveSeenItTakesAFindingBack) {
  const rules::Configuration configuration =
      test::must(rules::defaultConfiguration("performance", true));
  const auto reportOf = [](const std::string& entity, rules::Verdict verdict, double detectable) {
    rules::CheckReport report;
    rules::CheckResult& result = report.results.emplace_back();
    result.rule = "regression";
    result.severity = rules::Severity::Error;
    result.entity = entity;
    result.outcome.verdict = verdict;
    result.outcome.value = 0.04;
    result.outcome.evidence["detectable"] = detectable;
    return report;
  };
  const auto counts = [&](const std::string& entity, const rules::CheckReport& second) {
    rules::CheckReport first = reportOf(entity, rules::Verdict::Fired, 0.01);
    confirmBy(second, configuration, first);
    EXPECT_EQ(first.notes.size(), 1U);
    return first.results[0].counts();
  };
  using rules::Verdict;
  EXPECT_FALSE(counts("iteration", reportOf("iteration", Verdict::Pass, 0.02)));
  EXPECT_TRUE(counts("iteration", reportOf("iteration", Verdict::Pass, 0.08)));
  for (const Verdict verdict :
       {Verdict::Fired, Verdict::Insufficient, Verdict::Skipped, Verdict::Error})
    EXPECT_TRUE(counts("iteration", reportOf("iteration", verdict, 0.02)));
  EXPECT_TRUE(counts("iteration", {}));
  EXPECT_FALSE(counts("operation forward", reportOf("iteration", Verdict::Pass, 0.08)));
  EXPECT_TRUE(counts("operation forward", reportOf("iteration", Verdict::Fired, 0.02)));
  EXPECT_TRUE(counts("operation forward", reportOf("rank 1: iteration", Verdict::Pass, 0.02)));
  EXPECT_FALSE(counts("rank 1: operation x", reportOf("rank 1: iteration", Verdict::Pass, 0.02)));
}

TEST_F(BaselineVerb, AConfirmationThatFailsEndsWithThree) {
  writeRuns("before", 5, 0);
  const std::string now = writeRun("now.sonde", 12 * kMs);
  for (const auto& [command, message] :
       {std::pair("exit 5", "ended with exit status 5"),
        std::pair("kill -9 $$", "was ended by signal 9"),
        std::pair("true", "left no trace: let it write one"),
        std::pair("echo no >\"$SONDE_CONFIRM\"", "confirm.sonde")}) {
    const Finished failed = sonde({"check",
                                   now,
                                   "--rules",
                                   rules(kError),
                                   "--baseline",
                                   folder_ / "before",
                                   "--confirm",
                                   command});
    EXPECT_EQ(failed.status, 3) << command;
    EXPECT_THAT(failed.err, HasSubstr(message));
    EXPECT_EQ(failed.out, "");
  }
  const Finished warning = sonde({"check",
                                  now,
                                  "--rules",
                                  rules("regression = \"warning\"\n"),
                                  "--baseline",
                                  folder_ / "before",
                                  "--confirm",
                                  "exit 5"});
  EXPECT_EQ(warning.status, 0) << "only errors are confirmed";
  EXPECT_EQ(sonde({"check", now, "--dry-run", "--confirm", "true"}).status, 2);
}

// Every cut, and random damage, gives a message or a baseline, and never a crash.
TEST_F(BaselineVerb, RandomDamageNeverCrashes) {
  const std::string text = test::readText(accept({writeRun("run.sonde", 0, 6)}));
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i) {
    std::string damaged = text;
    for (unsigned change = 0; change < 1 + random() % 3; ++change)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    if (i % 3 == 0)
      damaged.resize(random() % damaged.size() + 1);
    test::writeText(folder_ / "bad.json", damaged);
    const Finished shown = sonde({"baseline", "show", folder_ / "bad.json"});
    EXPECT_THAT(shown.status, ::testing::AnyOf(0, 3)) << i << shown.err;
    EXPECT_EQ(shown.status == 0, shown.err.empty()) << shown.err;
  }
}

}  // namespace
}  // namespace sonde::cli
