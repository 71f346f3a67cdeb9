// `sonde diff` with small traces of known numbers.
#include "analysis/engine/diff/diff.h"

#include "analysis/store/database.h"
#include "cli/diff/diff_output.h"
#include "tests/cli/verbs_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Finished;
using test::kMs;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class DiffVerb : public Verbs {
 protected:
  // Writes a rank's trace to `place` in the folder. Runs begin a minute apart.
  std::string writeRun(const std::string& place, test::TrainingRun run, int minute) {
    run.beginNs += minute * 60'000 * kMs;
    const std::string path = folder_ / place;
    fs::create_directories(fs::path(path).parent_path());
    test::writeTrainingRun(path, run);
    return path;
  }
  // A run of one rank; every iteration is longer by `extraNs`.
  static test::TrainingRun runOf(std::int64_t extraNs, int iterations = 30) {
    test::TrainingRun run;
    run.worldSize = 1;
    run.job = "";
    run.iterations = iterations;
    run.extraNs = extraNs;
    for (int number = 0; extraNs > 0 && number < iterations; ++number)
      run.slow.push_back(number);
    return run;
  }
  // Three runs a side; those of b take `extraNs` more.
  void writeSides(std::int64_t extraNs) {
    for (int i = 0; i < 3; ++i) {
      writeRun("a/run" + std::to_string(i) + ".sonde", runOf(0), 2 * i);
      writeRun("b/run" + std::to_string(i) + ".sonde", runOf(extraNs), 2 * i + 1);
    }
  }
  json compare(std::vector<std::string> words) {
    words.insert(words.begin(), "diff");
    words.insert(words.end(), {"--format", "json"});
    return jsonOf(sonde(words));
  }
  static json rowOf(const json& document, const std::string& kind, const json& operation) {
    for (const json& row : document["rows"])
      if (row["kind"] == kind && row["operation"] == operation)
        return row;
    return nullptr;
  }
};

TEST_F(DiffVerb, TableIsStable) {
  writeSides(5 * kMs);
  const Finished table = sonde({"diff", folder_ / "a", folder_ / "b"});
  EXPECT_EQ(table.status, 0);
  EXPECT_EQ(table.err, "");
  expectGolden("diff.txt", table.out);
}

TEST_F(DiffVerb, TableOfSingleRunsIsStable) {
  const Finished table = sonde({"diff",
                                writeRun("a.sonde", runOf(0), 0),
                                writeRun("b.sonde", runOf(0), 1),
                                "--by",
                                "operation,category"});
  EXPECT_EQ(table.status, 0);
  expectGolden("diff-single.txt", table.out);
}

TEST_F(DiffVerb, JsonHasTheContractsKeysAndTheRunsNumbers) {
  writeSides(5 * kMs);
  const json document = compare({folder_ / "a", folder_ / "b"});
  EXPECT_EQ(document["verdict"], "slower");
  EXPECT_EQ(document["a"]["runs"].size(), 3U);
  EXPECT_EQ(document["a"]["iterations"], 81);
  EXPECT_EQ(document["a"]["warm_up"], 9);
  const std::set<std::string> contract = {
      "operation", "a_ns", "b_ns", "change", "low", "high", "p", "verdict"};
  for (const json& row : document["rows"])
    for (const std::string& key : contract)
      EXPECT_TRUE(row.contains(key)) << key;
  const json iteration = document["rows"][0];
  EXPECT_EQ(iteration["operation"], "iteration");
  EXPECT_EQ(iteration["kind"], "iteration");
  EXPECT_EQ(iteration["a_ns"], 100 * kMs);
  EXPECT_EQ(iteration["b_ns"], 105 * kMs);
  EXPECT_NEAR(iteration["change"].get<double>(), 0.05, 1e-9);
  EXPECT_LT(iteration["p"].get<double>(), 0.05);
  EXPECT_EQ(iteration["verdict"], "slower");
  const json forward = rowOf(document, "host", "forward");
  EXPECT_EQ(forward["a_ns"], 30 * kMs);
  EXPECT_EQ(forward["verdict"], "no difference can be shown");
  EXPECT_EQ(rowOf(document, "host", nullptr)["b_ns"], 9 * kMs) << "outside of all operations";
}

TEST_F(DiffVerb, ARunAndItselfDoNotDiffer) {
  const std::string run = writeRun("a.sonde", runOf(0), 0);
  const json document = compare({run, run});
  EXPECT_EQ(document["verdict"], "no difference can be shown");
  EXPECT_FALSE(document["rows"].empty());
  for (const json& row : document["rows"]) {
    EXPECT_EQ(row["verdict"], "no difference can be shown") << row;
    EXPECT_EQ(row["change"], 0);
  }
  EXPECT_THAT(document["notes"].dump(), HasSubstr("--run-noise"));
}

// A run that is given twice would look like two that hardly differ.
TEST_F(DiffVerb, EachTraceIsOnItsSideOnce) {
  const std::string once = writeRun("a/run.sonde", runOf(0), 0);
  const std::string other = writeRun("b/run.sonde", runOf(0), 1);
  const std::string copy = folder_ / "copy.sonde";
  {
    auto trace = test::must(store::Database::open(once, store::Access::ReadWrite));
    test::must(trace.exec("UPDATE process SET start_time = 4711"));
  }
  fs::copy_file(once, copy);
  fs::create_symlink(once, folder_ / "link.sonde");
  for (const std::string& again : {once, folder_ / "a", copy, folder_ / "link.sonde"}) {
    for (const bool isFirst : {true, false}) {
      const Finished refused =
          sonde({"diff", isFirst ? "--a" : "--b", once, again, isFirst ? "--b" : "--a", other});
      EXPECT_EQ(refused.status, 2) << again;
      EXPECT_THAT(refused.err, HasSubstr("hold the same processes: give each trace once"));
    }
    EXPECT_EQ(sonde({"diff", once, again}).status, 0) << "a run against itself";
  }
}

// As in a program that counts from 0 in each epoch.
TEST_F(DiffVerb, NumbersThatComeAgainAreOtherIterations) {
  const std::string path = writeRun("a.sonde", runOf(0, 60), 0);
  const std::string again = writeRun("b.sonde", runOf(0, 60), 1);
  {
    auto trace = test::must(store::Database::open(path, store::Access::ReadWrite));
    test::must(trace.exec("UPDATE iteration SET number = number % 20"));
  }
  const json document = compare({path, again});
  EXPECT_EQ(document["verdict"], "no difference can be shown");
  EXPECT_EQ(document["a"]["iterations"], 54);
  EXPECT_EQ(document["rows"][0]["a_ns"], document["rows"][0]["b_ns"]);
}

TEST_F(DiffVerb, WordsOptionsAndFoldersNameTheSameSides) {
  writeSides(5 * kMs);
  const auto runs = [&](const char* side) {
    std::vector<std::string> words;
    for (int i = 0; i < 3; ++i)
      words.push_back(folder_ / (std::string(side) + "/run" + std::to_string(i) + ".sonde"));
    return words;
  };
  std::vector<std::string> words = {"--a"};
  for (const std::string& run : runs("a"))
    words.push_back(run);
  words.emplace_back("--b");
  for (const std::string& run : runs("b"))
    words.push_back(run);
  EXPECT_EQ(compare(words)["rows"], compare({folder_ / "a", folder_ / "b"})["rows"]);
}

TEST_F(DiffVerb, RanksOfAJobAreOneRun) {
  for (int run = 0; run < 2; ++run)
    for (int rank = 0; rank < 2; ++rank) {
      test::TrainingRun training;
      training.rank = rank;
      training.job = "none";  // torchrun's name of every job
      const std::string place =
          "job/run" + std::to_string(run) + "/rank" + std::to_string(rank) + ".sonde";
      writeRun(place, training, run);
    }
  const json apart = compare({folder_ / "job/run0", folder_ / "job/run1"});
  EXPECT_EQ(apart["a"]["runs"].size(), 1U);
  EXPECT_EQ(apart["a"]["ranks"], 2);
  const json together = compare({folder_ / "job", folder_ / "job/run0"});
  EXPECT_EQ(together["a"]["runs"].size(), 2U) << "two jobs, of two ranks each";
  EXPECT_EQ(together["a"]["ranks"], 2);
}

TEST_F(DiffVerb, SidesOfDifferentNumbersOfRanksAreCompared) {
  test::TrainingRun run;
  for (run.rank = 0; run.rank < 2; ++run.rank)
    writeRun("two/rank" + std::to_string(run.rank) + ".sonde", run, 0);
  const json document = compare({writeRun("one.sonde", runOf(0), 1), folder_ / "two"});
  EXPECT_EQ(document["rows"][0]["a_ns"], document["rows"][0]["b_ns"]);
  EXPECT_THAT(document["notes"].dump(), HasSubstr("numbers of ranks"));
  const json byRank = compare({folder_ / "two", folder_ / "two", "--by", "operation,rank"});
  EXPECT_EQ(byRank["rows"][0]["rank"], 0);
  EXPECT_EQ(byRank["rows"][1]["rank"], 1);
}

TEST_F(DiffVerb, SaysThatRanksDifferInOppositeWays) {
  for (const int side : {0, 1})
    for (const int rank : {0, 1}) {
      test::TrainingRun run = runOf(rank == side ? 5 * kMs : 0);
      run.rank = rank;
      run.worldSize = 2;
      run.job = "job-1";
      writeRun(std::string(side == 0 ? "a" : "b") + "/rank" + std::to_string(rank) + ".sonde",
               run,
               side);
    }
  const Finished table =
      sonde({"diff", folder_ / "a", folder_ / "b", "--by", "rank", "--run-noise", "0.1"});
  EXPECT_THAT(table.out,
              HasSubstr("\nIterations of some ranks are slower in B, those of others faster.\n"));
}

TEST_F(DiffVerb, CsvHasTheRowsOfJson) {
  writeSides(5 * kMs);
  const Finished csv = sonde({"diff", folder_ / "a", folder_ / "b", "--format", "csv"});
  EXPECT_EQ(csv.status, 0);
  EXPECT_THAT(csv.out, StartsWith("operation,kind,rank,a_ns,b_ns,change,low,high,p,"));
  EXPECT_THAT(csv.out, HasSubstr("\r\niteration,iteration,,100000000,105000000,0.05"));
}

TEST_F(DiffVerb, OptionsChangeWhatCounts) {
  writeSides(5 * kMs);
  EXPECT_EQ(compare({folder_ / "a", folder_ / "b", "--skip", "0"})["a"]["iterations"], 90);
  const json strict = compare({folder_ / "a", folder_ / "b", "--level", "0.0001"});
  EXPECT_NEAR(strict["level"].get<double>(), 1e-6, 1e-12);
  const std::string one = folder_ / "a/run0.sonde";
  const std::string other = folder_ / "b/run0.sonde";
  EXPECT_EQ(compare({one, other})["rows"][0]["verdict"], "no difference can be shown");
  EXPECT_EQ(compare({one, other, "--run-noise", "0.1"})["rows"][0]["verdict"], "slower");
}

// Iterations 10 to 19 of b take 5 ms more.
TEST_F(DiffVerb, ComparesOnlyTheIterationsOfARange) {
  const std::string a = writeRun("a.sonde", runOf(0), 0);
  test::TrainingRun slowed = runOf(5 * kMs);
  slowed.slow = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  const std::string b = writeRun("b.sonde", slowed, 1);
  const auto range = [&](const char* iterations, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {a, b, "--iterations", iterations});
    return compare(more);
  };
  const json slow = range("10-19", {"--run-noise", "0.1"});
  EXPECT_EQ(slow["verdict"], "slower");
  EXPECT_EQ(slow["rows"][0]["b_ns"], 105 * kMs);
  EXPECT_EQ(slow["iterations"], json({{"first", 10}, {"last", 19}}));
  for (const char* const side : {"a", "b"}) {
    EXPECT_EQ(slow[side]["iterations"], 10);
    EXPECT_EQ(slow[side]["warm_up"], 0);
  }
  EXPECT_EQ(range("20-29")["rows"][0]["b_ns"], 100 * kMs);
  EXPECT_FALSE(compare({a, b}).contains("iterations")) << "nobody asked";
  EXPECT_EQ(range("0-4")["a"]["iterations"], 5) << "those that are named all count";
  EXPECT_EQ(range("0-4", {"--skip", "2"})["a"]["iterations"], 3);
  EXPECT_EQ(range("10-19", {"--skip", "2"})["a"]["iterations"], 10) << "of the run, not the range";
  EXPECT_EQ(range("25-99")["a"]["iterations"], 5) << "those that there are";
  EXPECT_EQ(range("7")["verdict"], "too few iterations");
  EXPECT_THAT(sonde({"diff", a, b, "--iterations", "10-19"}).out,
              HasSubstr("\nB: 1 run, 10 iterations\n"
                        "Only iterations 10 to 19 of each run are compared.\n"));
}

TEST_F(DiffVerb, OneIterationIsTooFew) {
  const json document =
      compare({writeRun("a.sonde", runOf(0, 1), 0), writeRun("b.sonde", runOf(kMs, 1), 1)});
  EXPECT_EQ(document["verdict"], "too few iterations");
  EXPECT_TRUE(document["rows"][0]["low"].is_null());
}

TEST_F(DiffVerb, RefusesWhatItCannotCompare) {
  const std::string run = writeRun("a.sonde", runOf(0), 0);
  const auto refused = [](const Finished& finished, int status, const char* why) {
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_THAT(finished.err, StartsWith("sonde diff: "));
    EXPECT_THAT(finished.err, HasSubstr(why));
    EXPECT_EQ(finished.out, "");
  };
  refused(sonde({"diff", run}), 2, "a side is missing");
  refused(sonde({"diff", run, run, "--a", run}), 2, "belongs to neither side");
  refused(sonde({"diff", run, run, "--by", "colour"}), 2, "'colour'");
  refused(sonde({"diff", run, run, "--level", "0"}), 2, "--level");
  refused(sonde({"diff", run, run, "--level", "nan"}), 2, "'nan' is not a number from 1e-06 to 50");
  refused(
      sonde({"diff", run, run, "--run-noise", "nan"}), 2, "'nan' is not a number from 0 to 100");
  refused(sonde({"diff", run, run, "--skip", "-1"}),
          2,
          "'-1' is not a whole number from 0 to 999999999");
  refused(sonde({"diff", run, run, "--skip", "1.5"}), 2, "'1.5' is not a whole number");
  for (const char* const range : {"9-3", "-1", "a-b", "1-2-3", "5-"})
    refused(sonde({"diff", run, run, fmt::format("--iterations={}", range)}),
            2,
            "is not a range of iterations: give one like --iterations 10-12");
  refused(sonde({"diff", run, run, "--iterations", "30-40"}),
          3,
          "a.sonde' has 30 iterations, with numbers from 0 to 29, but none of those to compare");
  refused(sonde({"diff", run, run, "--iterations", "0-4", "--skip", "5"}),
          3,
          "A has no iteration left to compare: skip fewer at the start");
  refused(sonde({"diff", run, "/nowhere.sonde"}), 3, "/nowhere.sonde");
  refused(sonde({"diff", run, run, "--skip", "30"}), 3, "A has no iteration left");
  fs::create_directories(folder_ / "empty");
  refused(sonde({"diff", run, folder_ / "empty"}), 3, "has no traces: name one");
  const std::string none = writeRun("none.sonde", runOf(0, 0), 0);
  refused(sonde({"diff", run, none}), 3, "has no iterations to compare");
}

// The fastest fifth became slower in all runs, and all other iterations stayed the same.
TEST(DiffText, AnIntervalWithoutZeroHasItsReason) {
  namespace diff = engine::diff;
  const auto side = [](double fast) {
    std::vector<diff::RunTimes> runs(4);
    for (diff::RunTimes& run : runs) {
      run.iterations = 30;
      run.ranks = 1;
      for (int i = 0; i < 30; ++i)
        run.times[diff::Subject{}].push_back(i % 5 == 0 ? fast : 2e7 + 7e5 * i);
    }
    return runs;
  };
  const diff::Judgement judgement;
  const diff::Diff result = test::must(diff::diff(side(1e7), side(1.2e7), judgement));
  EXPECT_EQ(result.verdict, diff::Verdict::Same);
  const std::string text = diffText({result, judgement, {}, {}, {}}, 10);
  EXPECT_THAT(text, HasSubstr("the interval of an iteration (+20.0 % … +20.0 %) excludes 0, but"));
  EXPECT_THAT(text, HasSubstr("the ranks of the iterations do not show it (p = "));
  EXPECT_THAT(text, HasSubstr("In 1 row, the interval excludes 0 although no difference"));
}

}  // namespace
}  // namespace sonde::cli
