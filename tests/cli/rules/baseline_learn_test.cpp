// `sonde baseline learn`, and `sonde check` with its file, by the built program.
#include "analysis/store/database.h"
#include "tests/cli/verbs_fixture.h"

#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using test::kMs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LearnVerb : public Verbs {
 protected:
  LearnVerb() {
    for (int i = 0; i < 5; ++i)
      good_.push_back(writeRun("good" + std::to_string(i) + ".sonde"));
  }
  // A run of one rank and 30 iterations; each is recorded a minute after the one before.
  std::string writeRun(const std::string& name, const std::string& sql = "") {
    test::TrainingRun run;
    run.worldSize = 1;
    run.job = "";
    run.beginNs += minute_++ * 60'000 * kMs;
    const std::string path = folder_ / name;
    test::writeTrainingRun(path, run);
    if (!sql.empty()) {
      auto database = test::must(store::Database::open(path, store::Access::ReadWrite));
      test::must(database.exec(sql));
    }
    return path;
  }
  std::string learn() {
    const std::string file = folder_ / "learned.json";
    std::vector<std::string> words = {"baseline", "learn", "-o", file, "-f"};
    words.insert(words.end(), good_.begin(), good_.end());
    const Finished learned = sonde(words);
    EXPECT_EQ(learned.status, 0) << learned.err;
    return file;
  }
  // The results of the rule as an error, for the run and more baselines.
  json judged(const std::string& run, const std::vector<std::string>& baselines, int status) {
    const std::string rules = folder_ / "rules.toml";
    test::writeText(rules, "[rules]\nlearned-invariants = \"error\"\n");
    std::vector<std::string> words = {
        "check", run, "--rules", rules, "--format", "json", "--baseline"};
    words.insert(words.end(), baselines.begin(), baselines.end());
    const Finished finished = sonde(words);
    EXPECT_EQ(finished.status, status) << finished.err << finished.out;
    return json::parse(finished.out, nullptr, false)["results"];
  }

  int minute_ = 0;
  std::vector<std::string> good_;
};

// The sixth call of the optimiser.
constexpr const char* kSixthStep =
    "(SELECT s.id FROM slice s WHERE s.kind = 'optimizer' ORDER BY s.start_ns LIMIT 1 OFFSET 5)";

TEST_F(LearnVerb, AGoodRunPassesAndABadOneFiresInItsIteration) {
  const std::string file = learn();
  const json good = judged(writeRun("new.sonde"), {file}, 0);
  ASSERT_EQ(good.size(), 1U);
  EXPECT_EQ(good[0]["verdict"], "pass");
  EXPECT_THAT(good[0]["message"].get<std::string>(),
              HasSubstr("learned invariants hold in 30 iterations"));

  const std::string bad =
      writeRun("bad.sonde", std::string("DELETE FROM slice WHERE id = ") + kSixthStep);
  const json results = judged(bad, {file}, 1);
  ASSERT_EQ(results.size(), 3U) << results.dump(2);
  EXPECT_EQ(results[0]["entity"], "rank 0: calls");
  EXPECT_EQ(results[0]["message"], "iteration 5: optimizer SGD.step: 0 calls instead of 1");
  EXPECT_EQ(results[0]["evidence"]["iteration"], 5);
  EXPECT_EQ(results[1]["entity"], "rank 0: names");
  EXPECT_EQ(results[2]["entity"], "rank 0: order");
  EXPECT_THAT(results[2]["message"].get<std::string>(),
              HasSubstr("the end after backward backward instead of optimizer SGD.step"));
}

TEST_F(LearnVerb, WithoutARulesFileItRunsBesideWhatNeedsTimes) {
  const std::string file = learn();
  const std::string run = writeRun("new.sonde");
  const Finished finished =
      sonde({"check", run, "--profile", "ci", "--format", "json", "--baseline", file});
  const json report = json::parse(finished.out);
  std::string seen;
  for (const json& each : report["results"])
    if (each["rule"] == "learned-invariants" || each["rule"] == "regression")
      seen += each["rule"].get<std::string>() + " " + each["verdict"].get<std::string>() + "\n";
  EXPECT_EQ(seen, "learned-invariants pass\nregression insufficient\n");
  EXPECT_EQ(finished.status, 0) << "regression was not asked for";
  std::vector<std::string> words = {"baseline", "accept", "-o", folder_ / "times.json"};
  words.insert(words.end(), good_.begin(), good_.end());
  ASSERT_EQ(sonde(words).status, 0);
  const json both = judged(run, {folder_ / "times.json", file}, 0);
  EXPECT_EQ(both[0]["verdict"], "pass");
}

TEST_F(LearnVerb, WhatTheRunDidNotRecordIsInsufficientAndNamed) {
  const json results = judged(writeRun("new.sonde", "DELETE FROM scalar"), {learn()}, 4);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["verdict"], "pass");
  EXPECT_EQ(results[1]["entity"], "scalars");
  EXPECT_EQ(results[1]["verdict"], "insufficient");
  EXPECT_THAT(results[1]["message"].get<std::string>(),
              HasSubstr("which this run did not record: add the probes annotation and torch"));
}

TEST_F(LearnVerb, WithoutAFileOfLearnTheRuleIsInsufficient) {
  const json results = judged(writeRun("new.sonde"), {good_[0]}, 4);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_THAT(results[0]["message"].get<std::string>(),
              HasSubstr("a file of sonde baseline learn"));
}

TEST_F(LearnVerb, SaysWhatItLearnedAndDropped) {
  writeRun("odd.sonde", "UPDATE scalar SET value = 1 WHERE iteration = 3");
  writeRun("other.sonde", "UPDATE slice SET kind = 'phase' WHERE id = " + std::string(kSixthStep));
  std::vector<std::string> words = {"baseline", "learn", "-o", folder_ / "l.json", "--format"};
  std::vector<std::string> rest = good_;
  rest.push_back(folder_ / "other.sonde");
  words.emplace_back("json");
  words.insert(words.end(), rest.begin(), rest.end());
  const json summary = jsonOf(sonde(words));
  EXPECT_EQ(summary["schema"], 1);
  EXPECT_EQ(summary["runs"].size(), 6U);
  EXPECT_EQ(summary["iterations"], 180);
  EXPECT_EQ(summary["dropped"]["calls"]["broken by a held-out run"], 2);
  EXPECT_GT(summary["invariants"]["calls"], 2);
  const json shown = jsonOf(sonde({"baseline", "show", folder_ / "l.json", "--format", "json"}));
  EXPECT_EQ(shown["dropped"], summary["dropped"]);
  bool hasForward = false;
  for (const json& each : shown["invariants"])
    hasForward = hasForward || (each["subject"] == "forward forward" && each["holds"] == "1" &&
                                each["samples"] == 180);
  EXPECT_TRUE(hasForward) << shown.dump(2);
  EXPECT_THAT(sonde({"baseline", "show", folder_ / "l.json"}).out,
              AllOf(StartsWith("learned     20"), HasSubstr("broken by a held-out run")));
}

TEST_F(LearnVerb, RefusesWhatItCannotLearnFrom) {
  const std::string output = folder_ / "l.json";
  test::writeText(folder_ / "torn.sonde", "SQLite format 3 and nothing else");
  const auto with = [&](std::vector<std::string> words, const std::string& more = "") {
    words.insert(words.begin(), {"baseline", "learn"});
    if (!more.empty())
      words.push_back(more);
    return sonde(words);
  };
  const std::vector<std::string> four = {good_[0], good_[1], good_[2], good_[3], "-o", output};
  const Finished few = with(four);
  EXPECT_EQ(few.status, 4);
  EXPECT_EQ(few.err,
            "sonde baseline: 4 runs are too few to learn from: give 5 good runs or more\n");
  EXPECT_EQ(with(four, folder_ / "torn.sonde").status, 3);
  EXPECT_EQ(with(four, folder_ / "missing.sonde").status, 4);
  EXPECT_EQ(with(four, good_[0]).status, 2) << "given twice";
  EXPECT_EQ(with({good_[0]}).status, 2) << "without -o";
  EXPECT_EQ(with({good_[0], "-o", output, "--by", "kernel"}).status, 2);
  EXPECT_FALSE(std::filesystem::exists(output));
  const std::string file = learn();
  EXPECT_THAT(with(four, good_[4]).status, 0);
  EXPECT_EQ(with(four, good_[4]).status, 2) << "it exists";
  test::writeText(file, test::readText(file).substr(0, 200));
  const Finished cut = sonde({"check", good_[0], "--baseline", file});
  EXPECT_EQ(cut.status, 3);
  EXPECT_THAT(cut.err, HasSubstr("learned.json: $ is not JSON, or cut off"));
}

}  // namespace
}  // namespace sonde::cli
