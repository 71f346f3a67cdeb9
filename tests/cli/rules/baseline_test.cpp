// `sonde check --baseline` and `sonde baseline`, by the built program.
#include "analysis/store/database.h"
#include "tests/cli/verbs_fixture.h"

#include <filesystem>
#include <random>
#include <string>
#include <utility>
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

class BaselineVerb : public Verbs {
 protected:
  // A run of one rank, named for its place; each is recorded a minute after the one before. Its
  // iterations last 100 ms and `extraNs` more.
  std::string writeRun(const std::string& place, std::int64_t extraNs, int iterations = 30) {
    test::TrainingRun run;
    run.worldSize = 1;
    run.job = "";
    run.iterations = iterations;
    run.extraNs = extraNs;
    for (int number = 0; extraNs > 0 && number < iterations; ++number)
      run.slow.push_back(number);
    run.beginNs += minute_++ * 60'000 * kMs;
    const std::string path = folder_ / place;
    fs::create_directories(fs::path(path).parent_path());
    test::writeTrainingRun(path, run);
    return path;
  }
  // Runs of slightly different speed: their iterations last up to 0.5 ms more or less than
  // 102 ms and `extraNs`.
  std::vector<std::string> writeRuns(const std::string& side, int count, std::int64_t extraNs) {
    static constexpr std::int64_t kOffsets[] = {0, 300'000, -400'000, 500'000, -200'000};
    std::vector<std::string> runs;
    for (int i = 0; i < count; ++i)
      runs.push_back(writeRun(side + "/run" + std::to_string(i) + ".sonde",
                              2 * kMs + extraNs + kOffsets[i % 5]));
    return runs;
  }
  static void change(const std::string& trace, const std::string& sql) {
    auto database = test::must(store::Database::open(trace, store::Access::ReadWrite));
    test::must(database.exec(sql));
  }
  std::string rules(const std::string& text) {
    const std::string path = folder_ / "rules.toml";
    test::writeText(path, "[rules]\n" + text);
    return path;
  }
  // Calls `sonde check` with these words, in JSON, and returns the report.
  json check(std::vector<std::string> words, int status, const std::string& err = "") {
    words.insert(words.begin(), "check");
    words.insert(words.end(), {"--format", "json"});
    const Finished finished = sonde(words);
    EXPECT_EQ(finished.status, status) << finished.err << finished.out;
    EXPECT_EQ(finished.err, err);
    return json::parse(finished.out, nullptr, false);
  }
  static json resultOf(const json& report, const std::string& entity) {
    for (const json& result : report["results"])
      if (result["rule"] == "regression" && result["entity"] == entity)
        return result;
    return nullptr;
  }
  static json regressionsIn(const std::string& report) {
    json found = json::array();
    const json document = json::parse(report);
    for (const json& result : document["results"])
      if (result["rule"] == "regression")
        found.push_back(result);
    return found;
  }
  static std::vector<std::string> joined(std::vector<std::string> words,
                                         const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string accept(const std::vector<std::string>& traces, const std::string& name = "b.json") {
    const std::string file = folder_ / name;
    const Finished accepted =
        sonde(joined({"baseline", "accept"}, joined(traces, {"-o", file, "-f"})));
    EXPECT_EQ(accepted.status, 0) << accepted.err;
    return file;
  }

  int minute_ = 0;
  const std::string kError = "regression = \"error\"\n";
};

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
