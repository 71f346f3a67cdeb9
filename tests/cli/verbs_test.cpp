// The verbs that read traces, as a user meets them: the program is run on a small job of two ranks.
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using test::kMs;
using test::readText;
using test::runProgram;
using test::TrainingRun;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Verbs : public ::testing::Test {
 protected:
  std::string write(std::int64_t rank, TrainingRun run = {}) {
    run.rank = rank;
    const std::string path = folder_ / ("rank" + std::to_string(rank) + ".sonde");
    std::filesystem::remove(path);
    test::writeTrainingRun(path, run);
    return path;
  }
  static Finished sonde(std::vector<std::string> words) {
    words.insert(words.begin(), SONDE_PROGRAM);
    return runProgram(words);
  }
  static json jsonOf(const Finished& finished) {
    EXPECT_EQ(finished.err, "");
    return json::parse(finished.out, nullptr, false);
  }
  // Compares with a file of tests/cli/golden; SONDE_REWRITE_GOLDEN=1 writes it instead.
  static void expectGolden(const std::string& name, const std::string& text) {
    const std::string path = std::string(SONDE_SOURCE_DIR "/tests/cli/golden/") + name;
    if (std::getenv("SONDE_REWRITE_GOLDEN") != nullptr)
      test::writeText(path, text);
    EXPECT_EQ(text, readText(path)) << "in " << path;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Verbs, ReportIsOneScreenAndStable) {
  const std::string a = write(0);
  const std::string b = write(1);
  const Finished report = sonde({"report", a, b});
  EXPECT_EQ(report.status, 0);
  EXPECT_EQ(report.err, "");
  expectGolden("report.txt", report.out);
  std::istringstream lines(report.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }),
              100)
        << line;
  EXPECT_LE(count, 40);
}

TEST_F(Verbs, ReportOfManyRanksStaysOneScreen) {
  std::vector<std::string> words = {"report"};
  TrainingRun run;
  run.worldSize = 12;
  run.iterations = 3;
  for (std::int64_t rank = 0; rank < 12; ++rank)
    words.push_back(write(rank, run));
  const Finished report = sonde(words);
  EXPECT_EQ(report.status, 0) << report.err;
  EXPECT_LE(std::count(report.out.begin(), report.out.end(), '\n'), 40);
  EXPECT_THAT(report.out, HasSubstr("12 ranks"));
  words.push_back("--full");
  EXPECT_THAT(sonde(words).out, HasSubstr("rank 11"));
}

TEST_F(Verbs, ReportJsonHasTheContractsKeysAndTheRunsNumbers) {
  const json report = jsonOf(sonde({"report", write(0), write(1), "--format", "json"}));
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["origin_ns"], std::to_string(TrainingRun().beginNs - 50 * kMs));
  ASSERT_EQ(report["ranks"].size(), 2U);
  const json& rank = report["ranks"][1];
  EXPECT_EQ(rank["rank"], 1);
  EXPECT_EQ(rank["device"], "cpu");
  // By hand: compute 10–72 and 92–98 of each 100 ms, communication 60–70 and 72–90.
  EXPECT_EQ(rank["compute_ns"], 30 * 68 * kMs);
  EXPECT_EQ(rank["comm_ns"], 30 * 28 * kMs);
  EXPECT_EQ(rank["exposed_comm_ns"], 30 * 18 * kMs);
  EXPECT_EQ(rank["idle_ns"], 30 * 14 * kMs);
  EXPECT_EQ(rank["copy_ns"], 0);
  EXPECT_DOUBLE_EQ(rank["comm_overlap"], 10.0 / 28);
  ASSERT_EQ(report["iterations"].size(), 60U);
  EXPECT_EQ(report["iterations"][59]["number"], 29);
  EXPECT_EQ(report["iterations"][59]["ns"], 100 * kMs);
  const json parts = rank["median_iteration"];
  EXPECT_EQ(parts["data_load_ns"], 10 * kMs);
  EXPECT_EQ(parts["forward_ns"], 30 * kMs);
  EXPECT_EQ(parts["backward_ns"], 40 * kMs);
  EXPECT_EQ(parts["optimizer_ns"], 6 * kMs);
  EXPECT_EQ(parts["other_ns"], 14 * kMs);
  json backward;
  for (const json& operation : report["operations"])
    if (operation["name"] == "backward" && operation["rank"] == 0)
      backward = operation;
  EXPECT_EQ(backward["count"], 30);
  EXPECT_EQ(backward["ns"], 30 * 40 * kMs);
  EXPECT_EQ(backward["p50_ns"], 40 * kMs);
  EXPECT_EQ(backward["p95_ns"], 40 * kMs);
  EXPECT_DOUBLE_EQ(backward["share"], 0.4);
  EXPECT_TRUE(report["dropped"].empty());
  EXPECT_TRUE(report["recorder"].contains("cpu_s"));
  EXPECT_TRUE(report["recorder"].contains("bytes"));
  EXPECT_EQ(report["conservation"]["pairs"], 1);
  EXPECT_EQ(report["conservation"]["agreeing_pairs"], 1);
  EXPECT_EQ(report["conservation"]["sent_bytes"], 2 * 60 * 1000);
}

// A program that only annotates, over `wallNs`: of what it computed nothing was recorded.
void writeAnnotatedRun(const std::string& path, std::int64_t wallNs, bool collective) {
  test::TraceBuilder trace(path);
  const auto host = trace.add(model::Host{.name = "host-a", .bootId = "boot-a"});
  const auto process = trace.add(model::Process{.hostId = host,
                                                .pid = 100,
                                                .rank = 0,
                                                .command = "./simulate",
                                                .startNs = 0,
                                                .endNs = wallNs,
                                                .state = model::ProcessState::Exited});
  const auto thread = trace.add(model::Thread{.processId = process, .tid = 100});
  trace.slice(thread, model::SliceKind::Operation, "rollout", {0, wallNs});
  if (collective)
    trace.add(model::Collective{.processId = process, .seq = 0, .startNs = 0, .durNs = kMs});
  trace.meta("recorder_cpu_ns", std::to_string(kMs * 500));
  trace.finish();
}

TEST_F(Verbs, ReportCallsComputeUnknownWithoutAFramework) {
  const std::string trace = folder_ / "annotated.sonde";
  writeAnnotatedRun(trace, 2000 * kMs, false);
  const std::string text = sonde({"report", trace}).out;
  EXPECT_THAT(text, HasSubstr("\nNo framework was recorded: what was computed is unknown.\n"));
  EXPECT_THAT(text, Not(HasSubstr("idle")));
  EXPECT_THAT(text, HasSubstr("0.50 s of CPU (25.0 % of one core)"));
  const json rank = jsonOf(sonde({"report", trace, "--format", "json"}))["ranks"][0];
  EXPECT_EQ(rank["window_ns"], 2000 * kMs);
  for (const char* key : {"compute_ns", "exposed_comm_ns", "idle_ns", "comm_overlap"})
    EXPECT_TRUE(rank.contains(key) && rank[key].is_null()) << key;
}

TEST_F(Verbs, ReportKeepsTheCollectivesWithoutAFramework) {
  const std::string trace = folder_ / "annotated.sonde";
  writeAnnotatedRun(trace, 2000 * kMs, true);
  const std::string text = sonde({"report", trace}).out;
  EXPECT_THAT(text, HasSubstr("rank 0     2 s        -     -            1  1 ms       -        -"));
  EXPECT_THAT(text, HasSubstr("Where no framework was recorded, what was computed is unknown."));
  const json rank = jsonOf(sonde({"report", trace, "--format", "json"}))["ranks"][0];
  EXPECT_EQ(rank["comm_ns"], kMs);
  EXPECT_TRUE(rank["comm_overlap"].is_null());
}

TEST_F(Verbs, ReportGivesNoShareOfACoreForAnInstant) {
  const std::string trace = folder_ / "annotated.sonde";
  writeAnnotatedRun(trace, 200 * kMs, false);
  EXPECT_THAT(sonde({"report", trace}).out, HasSubstr("\nRecording  0.50 s of CPU, 1 event"));
}

TEST_F(Verbs, SqlPrintsTablesJsonAndCsv) {
  const std::string trace = write(0);
  const std::string select =
      "SELECT 'a,b' AS x, 9007199254740993 AS big, 1.5, NULL, x'00ff' AS blob, 7 AS small";
  EXPECT_EQ(sonde({"sql", trace, select}).out,
            "x                 big  1.5  NULL  blob     small\n"
            "a,b  9007199254740993  1.5  -     x'00ff'      7\n");
  EXPECT_EQ(sonde({"sql", trace, select, "--format", "csv"}).out,
            "x,big,1.5,NULL,blob,small\r\n\"a,b\",9007199254740993,1.5,,00ff,7\r\n");
  const json rows = jsonOf(sonde({"sql", trace, select, "--format", "json"}));
  EXPECT_THAT(rows["columns"], ElementsAre("x", "big", "1.5", "NULL", "blob", "small"));
  EXPECT_EQ(rows["rows"].dump(), R"([["a,b","9007199254740993",1.5,null,"00ff",7]])");
}

TEST_F(Verbs, SqlOverSeveralTracesSeesOneJob) {
  const json rows = jsonOf(sonde(
      {"sql", write(0), write(1), "SELECT rank FROM process ORDER BY rank", "--format", "json"}));
  EXPECT_EQ(rows["rows"].dump(), "[[0],[1]]");
}

TEST_F(Verbs, SqlRefusesToWriteAndSaysWhereItIsWrong) {
  const std::string trace = write(0);
  for (const char* statement :
       {"DELETE FROM slice", "DROP TABLE slice", "CREATE TABLE t(x)", "VACUUM"}) {
    const Finished finished = sonde({"sql", trace, statement});
    EXPECT_EQ(finished.status, 2) << statement;
    EXPECT_THAT(finished.err, StartsWith("sonde sql: ")) << statement;
  }
  EXPECT_EQ(
      jsonOf(sonde({"sql", trace, "SELECT count(*) FROM iteration", "--format", "json"}))["rows"]
          .dump(),
      "[[30]]");
  const Finished wrong = sonde({"sql", trace, "SELECT 1 FROM slise"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("no such table: slise"));
  const Finished misspelt = sonde({"sql", trace, "SELECT nme FROM v_slice"});
  EXPECT_THAT(misspelt.err, HasSubstr("at character 8"));
}

TEST_F(Verbs, MergeWritesATraceAndASummary) {
  const std::string job = folder_ / "job.sonde";
  const std::string summary = folder_ / "summary.json";
  const Finished merged = sonde({"merge", "-o", job, write(0), write(1), "--summary", summary});
  EXPECT_EQ(merged.status, 0) << merged.err;
  EXPECT_THAT(merged.out, HasSubstr("next: sonde report " + job));
  const json document = json::parse(readText(summary));
  EXPECT_EQ(document["events"]["iteration"], 60);
  EXPECT_TRUE(document["dropped"].empty());
  EXPECT_EQ(document["path"], job);
  EXPECT_TRUE(document["seconds"].is_number());
  EXPECT_EQ(sonde({"report", job}).out,
            sonde({"report", folder_ / "rank0.sonde", folder_ / "rank1.sonde"}).out);
  const Finished again = sonde({"merge", "-o", job, folder_ / "rank0.sonde"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("exists: give -f"));
}

TEST_F(Verbs, ContradictingTracesAreRefusedByEveryVerb) {
  const std::string a = write(0);
  for (const char* verb : {"report", "check"}) {
    const Finished refused = sonde({verb, a, a});
    EXPECT_EQ(refused.status, 3) << verb;
    EXPECT_THAT(refused.err, HasSubstr("both hold rank 0"));
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1);
  }
}

TEST_F(Verbs, UnreadableInputIsStatus3AndOneLine) {
  const std::string text = folder_ / "notes.txt";
  test::writeText(text,
                  "this is no trace at all, only a text that is long enough to be looked at by its "
                  "header ......");
  for (const std::string& path : {folder_ / "missing.sonde", text}) {
    for (const char* verb : {"report", "check"}) {
      const Finished finished = sonde({verb, path});
      EXPECT_EQ(finished.status, 3) << verb;
      EXPECT_THAT(finished.err, StartsWith(std::string("sonde ") + verb + ": "));
      EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1);
      EXPECT_EQ(finished.out, "");
    }
  }
}

TEST_F(Verbs, CheckPassesAHealthyRun) {
  const Finished text = sonde({"check", write(0), write(1)});
  EXPECT_EQ(text.status, 0);
  expectGolden("check.txt", text.out);
  const json report = jsonOf(sonde({"check", folder_ / "rank0.sonde", "--format", "json"}));
  EXPECT_EQ(report["verdict"], "pass");
  ASSERT_EQ(report["results"].size(), 2U);
  for (const char* key : {"rule",
                          "verdict",
                          "severity",
                          "message",
                          "value",
                          "threshold",
                          "window",
                          "samples",
                          "entity",
                          "evidence"})
    EXPECT_TRUE(report["results"][0].contains(key)) << key;
  EXPECT_EQ(report["results"][0]["entity"], "rank 0");
}

TEST_F(Verbs, CheckExitsWith1OnlyForErrors) {
  TrainingRun slow;
  slow.slow = {10, 14, 18, 22};
  slow.extraNs = 100 * kMs;
  const std::string trace = write(0, slow);
  const Finished warned = sonde({"check", trace});
  EXPECT_EQ(warned.status, 0);
  EXPECT_THAT(warned.out, HasSubstr("fired"));
  const std::string rules = folder_ / "sonde.toml";
  test::writeText(rules, "[rules]\nstep-outlier = \"error\"\n");
  const std::string output = folder_ / "check.json";
  const Finished failed =
      sonde({"check", trace, "--rules", rules, "--format", "json", "-o", output});
  EXPECT_EQ(failed.status, 1);
  EXPECT_EQ(failed.out, "");
  const json report = json::parse(readText(output));
  EXPECT_EQ(report["verdict"], "fired");
  ASSERT_EQ(report["results"].size(), 1U);
  EXPECT_EQ(report["results"][0]["severity"], "error");
  EXPECT_EQ(report["results"][0]["evidence"]["outliers"], 4);
}

TEST_F(Verbs, CheckExitsWith4WhenAnErrorRuleSawTooLittle) {
  TrainingRun silent;
  silent.losses = false;
  const std::string trace = write(0, silent);
  EXPECT_EQ(sonde({"check", trace}).status, 0);
  const Finished ci = sonde({"check", trace, "--profile", "ci"});
  EXPECT_EQ(ci.status, 4);
  EXPECT_THAT(ci.out, HasSubstr("insufficient"));
  EXPECT_THAT(ci.out, HasSubstr("no scalar 'loss' in 30 iterations"));
}

TEST_F(Verbs, CheckNamesTheLineOfAWrongRulesFile) {
  const std::string rules = folder_ / "sonde.toml";
  test::writeText(rules, "[rules]\nstep-outlyer = \"error\"\n");
  const Finished finished = sonde({"check", write(0), "--rules", rules});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.err,
            "sonde check: " + rules +
                ":2:1: there is no rule 'step-outlyer': did you mean 'step-outlier'?\n");
}

TEST_F(Verbs, TrimCutsAndRefusesWhatIsNoRange) {
  const std::string trace = write(0);
  const std::string small = folder_ / "small.sonde";
  const Finished trimmed = sonde({"trim", trace, "-o", small, "--iterations", "4-6"});
  EXPECT_EQ(trimmed.status, 0) << trimmed.err;
  EXPECT_THAT(trimmed.out, HasSubstr("holds iterations 4-6 of " + trace));
  const json rows =
      jsonOf(sonde({"sql", small, "SELECT number FROM iteration", "--format", "json"}));
  EXPECT_EQ(rows["rows"].dump(), "[[4],[5],[6]]");
  EXPECT_EQ(sonde({"report", small}).status, 0);
  for (const char* range : {"6-4", "x", "1-", "-3", "1-2-3", ""}) {
    const Finished refused =
        sonde({"trim", trace, "-o", folder_ / "other.sonde", "--iterations", range});
    EXPECT_EQ(refused.status, 2) << range;
    EXPECT_THAT(refused.err, StartsWith("sonde trim: ")) << range;
  }
  EXPECT_EQ(sonde({"trim", trace, "-o", folder_ / "other.sonde", "--iterations", "70"}).status, 2);
}

TEST_F(Verbs, DoctorJsonHasTheContractsKeys) {
  const json report = jsonOf(sonde({"doctor", "--format", "json"}));
  EXPECT_EQ(report["schema"], 1);
  EXPECT_TRUE(report["versions"]["sonde"].is_string());
  std::vector<std::string> names;
  for (const json& probe : report["probes"]) {
    names.push_back(probe["name"]);
    EXPECT_TRUE(probe["available"].is_boolean()) << probe;
    EXPECT_TRUE(probe["reason"].is_string()) << probe;
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"annotation", "torch", "gloo", "nvtx", "net"}));
  ASSERT_FALSE(report["spool"].empty());
  for (const char* key : {"place", "usable", "file_system", "limit_bytes", "reason"})
    EXPECT_TRUE(report["spool"][0].contains(key)) << key;
  EXPECT_TRUE(report["clock"].is_string());
}

TEST_F(Verbs, RulesExplainsThem) {
  EXPECT_EQ(sonde({"rules"}).status, 0);
  expectGolden("rules.txt", sonde({"rules"}).out);
  expectGolden("rules-step-outlier.txt", sonde({"rules", "step-outlier"}).out);
  EXPECT_EQ(sonde({"rules", "StepOutlier"}).out, sonde({"rules", "step-outlier"}).out);
  const json rules = jsonOf(sonde({"rules", "--format", "json"}))["rules"];
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0]["name"], "loss-not-decreasing");
  EXPECT_EQ(rules[0]["alias"], "LossNotDecreasing");
  EXPECT_EQ(rules[0]["profile"], "ci");
  EXPECT_EQ(rules[0]["parameters"]["window"]["default"], 100);
  EXPECT_EQ(sonde({"rules", "step-outlir"}).err,
            "sonde rules: there is no rule 'step-outlir': did you mean 'step-outlier'?\n");
}

}  // namespace
}  // namespace sonde::cli
