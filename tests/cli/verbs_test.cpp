// The verbs that read traces: runs the program on a small job of two ranks.
#include "analysis/store/each_row.h"
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using test::kMs;
using test::must;
using test::readText;
using test::runProgram;
using test::TrainingRun;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

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

// The tables of the first traces. Later tables may be missing: no verb requires them.
const std::set<std::string> kFirstTables = {"meta",
                                            "string",
                                            "host",
                                            "process",
                                            "thread",
                                            "device",
                                            "stream",
                                            "clock_sync",
                                            "clock_map",
                                            "slice",
                                            "kernel",
                                            "copy",
                                            "sync",
                                            "device_metric",
                                            "arg",
                                            "link",
                                            "communicator",
                                            "communicator_member",
                                            "collective",
                                            "channel",
                                            "transfer",
                                            "handoff",
                                            "io",
                                            "iteration",
                                            "scalar",
                                            "tensor",
                                            "counter",
                                            "sample",
                                            "mapping",
                                            "frame",
                                            "stack",
                                            "stack_sample",
                                            "allocation",
                                            "overhead",
                                            "overhead_covariance",
                                            "probe_call",
                                            "loss",
                                            "note",
                                            "ingested",
                                            "open_scope",
                                            "ingest_state",
                                            "finding",
                                            "line",
                                            "lod"};

TEST_F(Verbs, TracesFromBeforeATableWasAddedAreRead) {
  const std::string first = write(0);
  {
    auto trace = must(store::Database::open(first, store::Access::ReadWrite));
    must(trace.exec("UPDATE process SET state = 'running', end_ns = NULL"));
    std::vector<std::string> later;
    must(store::forEachRow(trace,
                           "SELECT name FROM sqlite_schema WHERE type = 'table'",
                           [&](const store::Statement& row) -> Result<void> {
                             later.emplace_back(row.text(0));
                             return {};
                           }));
    std::erase_if(later, [](const std::string& name) { return kFirstTables.contains(name); });
    EXPECT_THAT(later, Not(IsEmpty()));
    must(trace.exec("DROP VIEW v_open_call"));
    for (const std::string& table : later)
      must(trace.exec("DROP TABLE " + table));
  }
  const std::string second = write(1);
  for (const auto& call : {std::vector<std::string>{"report", first},
                           {"breakdown", first},
                           {"check", first},
                           {"diff", first, second},
                           {"report", first, second},
                           {"export", "--to", "chrome", first, "-o", folder_ / "t.json"},
                           {"merge", "-o", folder_ / "job.sonde", first, second}})
    EXPECT_EQ(sonde(call).status, 0) << call.front() << ": " << sonde(call).err;
}

TEST_F(Verbs, ContradictingTracesAreRefusedByEveryVerb) {
  const std::string a = write(0);
  for (const char* verb : {"report", "breakdown", "check"}) {
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
  const std::string rules = folder_ / "sonde.toml";
  test::writeText(rules,
                  "[rules]\nstep-outlier = \"warning\"\nloss-not-decreasing = \"error\"\n"
                  "exploding-tensor = \"warning\"\n");
  const Finished text = sonde({"check", write(0), write(1), "--rules", rules});
  EXPECT_EQ(text.status, 0);
  expectGolden("check.txt", text.out);
  const json report = jsonOf(sonde({"check", folder_ / "rank0.sonde", "--format", "json"}));
  EXPECT_EQ(report["verdict"], "pass");
  ASSERT_GE(report["results"].size(), 2U);
  for (const char* key : {"rule",
                          "verdict",
                          "severity",
                          "message",
                          "value",
                          "threshold",
                          "window",
                          "samples",
                          "entity",
                          "evidence",
                          "hint",
                          "next"})
    EXPECT_TRUE(report["results"][0].contains(key)) << key;
  const auto& results = report["results"];
  EXPECT_TRUE(std::any_of(results.begin(), results.end(), [](const json& result) {
    return result["rule"] == "step-outlier" && result["entity"] == "rank 0" &&
           result["verdict"] == "pass";
  }));
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
  TrainingRun brief;
  brief.iterations = 5;
  const std::string trace = write(0, brief);
  EXPECT_EQ(sonde({"check", trace}).status, 0);
  const Finished ci = sonde({"check", trace, "--profile", "ci"});
  EXPECT_EQ(ci.status, 4);
  EXPECT_THAT(ci.out, HasSubstr("insufficient"));
  EXPECT_THAT(ci.out, HasSubstr("5 values of 'loss', but 20 are needed"));
}

TEST_F(Verbs, ALossThatWasNeverRecordedCountsOnlyIfAFileAsksForIt) {
  TrainingRun silent;
  silent.losses = false;
  const std::string trace = write(0, silent);
  const Finished ci = sonde({"check", trace, "--profile", "ci", "--format", "json"});
  EXPECT_EQ(ci.status, 0);
  const std::string rules = folder_ / "sonde.toml";
  test::writeText(rules, "[rules]\nloss-not-decreasing = \"error\"\n");
  const Finished named = sonde({"check", trace, "--rules", rules});
  EXPECT_EQ(named.status, 4);
  EXPECT_THAT(named.out, HasSubstr("no scalar 'loss' in 30 iterations"));
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
  const json all = jsonOf(sonde({"rules", "--format", "json"}))["rules"];
  EXPECT_GT(all.size(), 2U);
  const json rules = jsonOf(sonde({"rules", "loss-not-decreasing", "--format", "json"}))["rules"];
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0]["name"], "loss-not-decreasing");
  EXPECT_EQ(rules[0]["alias"], "LossNotDecreasing");
  EXPECT_EQ(rules[0]["profile"], "ci");
  EXPECT_EQ(rules[0]["parameters"]["window"]["default"], 100);
  EXPECT_EQ(rules[0]["parameters"]["window"]["minimum"], 4);
  EXPECT_EQ(rules[0]["parameters"]["converged_below"]["maximum"], nullptr);
  EXPECT_EQ(rules[0]["runs_by_itself"], "always");
  const std::string list = sonde({"rules"}).out;
  EXPECT_THAT(list, ::testing::ContainsRegex("regression +with a baseline "));
  EXPECT_THAT(list, ::testing::ContainsRegex("non-determinism +if named "));
  EXPECT_THAT(list, ::testing::ContainsRegex("first-nan +ci, production "));
  EXPECT_THAT(sonde({"rules", "regression"}).out,
              AllOf(HasSubstr("\nruns with a baseline"), HasSubstr("0 to 10")));
  EXPECT_EQ(sonde({"rules", "step-outlir"}).err,
            "sonde rules: there is no rule 'step-outlir': did you mean 'step-outlier'?\n");
}

}  // namespace
}  // namespace sonde::cli
