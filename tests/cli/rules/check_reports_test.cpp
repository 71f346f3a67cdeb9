// `sonde check` in CI: its formats, exit statuses, limits and plans, by the built program.
#include "tests/cli/verbs_fixture.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using test::kMs;
using test::readText;
using test::TrainingRun;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string> kFormats = {"text", "json", "junit", "sarif", "github"};

class CheckReports : public Verbs {
 protected:
  CheckReports() {
    for (const char* name : {"GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"})
      unsetenv(name);
  }
  ~CheckReports() override {
    for (const char* name : {"GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"})
      unsetenv(name);
  }
  // step-outlier fires.
  std::string slowRank(std::int64_t rank) {
    TrainingRun run;
    run.slow = {10, 14, 18, 22};
    run.extraNs = 100 * kMs;
    return write(rank, run);
  }
  std::string rules(const std::string& text) {
    const std::string path = folder_ / "my rules.toml";
    test::writeText(path, "[rules]\n" + text);
    return path;
  }
  // The JSON that a script of tests/rules prints of a report; it checks the report, too.
  json readBy(const std::string& script, const std::string& report) {
    test::writeText(folder_ / "report", report);
    const Finished read = test::runProgram(
        {SONDE_PYTHON, SONDE_SOURCE_DIR "/tests/rules/" + script, folder_ / "report"});
    EXPECT_EQ(read.status, 0) << read.err;
    return read.out.empty() ? json() : json::parse(read.out);
  }
};

TEST_F(CheckReports, EveryFormatHasTheSameExitStatuses) {
  TrainingRun brief;
  brief.iterations = 5;
  TrainingRun silent;
  silent.losses = false;
  const std::string error = rules("step-outlier = \"error\"\n");
  const std::string few = write(2, brief);
  const std::string quiet = write(3, silent);
  const std::vector<std::pair<int, std::vector<std::string>>> calls = {
      {0, {write(0)}},
      {0, {slowRank(1)}},  // a warning
      {1, {slowRank(1), "--rules", error}},
      {0, {quiet, "--profile", "ci"}},
      {4, {few, "--profile", "ci"}}};
  for (const std::string& format : kFormats)
    for (const auto& [status, words] : calls) {
      SCOPED_TRACE(format + " " + std::to_string(status));
      std::vector<std::string> call = {"check", "--format", format};
      call.insert(call.end(), words.begin(), words.end());
      const Finished shown = sonde(call);
      EXPECT_EQ(shown.status, status);
      EXPECT_EQ(shown.err, "");
      EXPECT_NE(shown.out, "");
      call.insert(call.end(), {"-o", folder_ / "out put"});
      const Finished written = sonde(call);
      EXPECT_EQ(written.status, status);
      EXPECT_EQ(written.out, "");
      EXPECT_EQ(readText(folder_ / "out put"), shown.out);
    }
}

TEST_F(CheckReports, WithoutAVerdictNoReportIsWritten) {
  const std::string wrong = rules("step-outlyer = \"error\"\n");
  const std::string output = folder_ / "report";
  for (const std::string& format : kFormats) {
    const Finished usage =
        sonde({"check", write(0), "--rules", wrong, "--format", format, "-o", output});
    EXPECT_EQ(usage.status, 2);
    const Finished unreadable =
        sonde({"check", folder_ / "missing.sonde", "--format", format, "-o", output});
    EXPECT_EQ(unreadable.status, 3);
    for (const Finished& each : {usage, unreadable}) {
      EXPECT_EQ(each.out, "");
      EXPECT_EQ(std::count(each.err.begin(), each.err.end(), '\n'), 1) << each.err;
    }
    EXPECT_FALSE(std::filesystem::exists(output));
    EXPECT_EQ(sonde({"check", write(0), "--format", format, "-o", folder_ / "none/report"}).status,
              3);
  }
}

TEST_F(CheckReports, MaxWarningsIsTheLargestNumberThatIsFine) {
  const std::string first = slowRank(0);
  const std::string second = slowRank(1);
  const auto check = [&](const std::string& most) {
    return sonde({"check", first, second, "--max-warnings", most});
  };
  EXPECT_EQ(sonde({"check", first, second}).status, 0);
  EXPECT_EQ(check("3").status, 0);
  const Finished equal = check("2");
  EXPECT_EQ(equal.status, 0);
  EXPECT_THAT(equal.out, Not(HasSubstr("note:")));
  const Finished above = check("1");
  EXPECT_EQ(above.status, 1);
  EXPECT_THAT(above.out,
              HasSubstr("note: 2 findings of severity warning are more than the 1 that "
                        "--max-warnings allows\n"));
  EXPECT_EQ(check("0").status, 1);
  for (const char* wrong : {"-1", "x", "1.5", ""}) {
    const Finished refused = check(wrong);
    EXPECT_EQ(refused.status, 2) << wrong;
    EXPECT_THAT(refused.err, StartsWith("sonde check: "));
  }
  const std::string info = rules("step-outlier = \"info\"\n");
  EXPECT_EQ(sonde({"check", first, "--rules", info, "--max-warnings", "0"}).status, 0);
}

TEST_F(CheckReports, JunitFailsOnlyByErrors) {
  const std::string trace = slowRank(0);
  const json warned = readBy("read_junit.py", sonde({"check", trace, "--format", "junit"}).out);
  EXPECT_EQ(warned["failures"], "0");
  const std::string error = rules("step-outlier = \"error\"\n");
  const json failed =
      readBy("read_junit.py", sonde({"check", trace, "--rules", error, "--format", "junit"}).out);
  EXPECT_EQ(failed["failures"], "1");
  EXPECT_EQ(failed["children"][0]["classname"], "step-outlier");
  EXPECT_EQ(failed["children"][0]["name"], "rank 0");
}

TEST_F(CheckReports, SarifHasAllResultsOrOnlyFindings) {
  setenv("GITHUB_WORKSPACE", folder_.path().c_str(), 1);
  const std::string trace = slowRank(0);
  const std::string error = rules("step-outlier = \"error\"\nloss-not-decreasing = \"error\"\n");
  const auto results = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"check", trace, "--format", "sarif"});
    const Finished finished = sonde(more);
    readBy("check_sarif.py", finished.out);
    const json run = json::parse(finished.out)["runs"][0];
    EXPECT_EQ("sonde " + run["tool"]["driver"]["version"].get<std::string>() + "\n",
              sonde({"--version"}).out);
    return run["results"];
  };
  EXPECT_GT(results({}).size(), 20U);
  const json all = results({"--rules", error});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["ruleId"], "step-outlier");
  EXPECT_EQ(all[0]["level"], "error");
  EXPECT_EQ(all[1]["kind"], "pass");
  const auto uri = [](const json& result) {
    return result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
  };
  EXPECT_EQ(uri(all[0]), "my%20rules.toml");
  const json findings = results({"--findings-only"});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0]["level"], "warning");
  EXPECT_EQ(uri(findings[0]), "rank0.sonde");
}

TEST_F(CheckReports, GithubAddsToTheStepSummary) {
  const std::string summary = folder_ / "summary.md";
  test::writeText(summary, "before\n");
  setenv("GITHUB_STEP_SUMMARY", summary.c_str(), 1);
  const std::string trace = slowRank(0);
  EXPECT_EQ(sonde({"check", trace}).status, 0);
  EXPECT_EQ(readText(summary), "before\n");  // only with this format
  const Finished finished = sonde({"check", trace, "--format", "github"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.out,
              AllOf(StartsWith("::warning title=step-outlier (rank 0)::4 of "),
                    HasSubstr("\nsonde check: 1 fired, ")));
  EXPECT_THAT(readText(summary),
              AllOf(StartsWith("before\n### sonde check: 1 fired, "),
                    HasSubstr("\n| fired | warning | step-outlier | rank 0 | 4 of ")));
  setenv("GITHUB_STEP_SUMMARY", (folder_ / "none/summary.md").c_str(), 1);
  const Finished unwritable = sonde({"check", trace, "--format", "github"});
  EXPECT_EQ(unwritable.status, 3);
  EXPECT_THAT(unwritable.err, HasSubstr("none/summary.md: No such file or directory"));
}

// The action at the top of the tree, with these inputs.
Finished runAction(std::vector<std::string> inputs) {
  inputs.insert(inputs.begin(),
                {SONDE_PYTHON,
                 SONDE_SOURCE_DIR "/tests/cli/run_action.py",
                 SONDE_SOURCE_DIR "/action.yml",
                 std::string("sonde=") + SONDE_PROGRAM});
  return test::runProgram(inputs);
}

TEST_F(CheckReports, TheActionHandsOverItsInputs) {
  slowRank(0);
  slowRank(1);
  const std::string traces = "traces=" + (folder_ / "*.sonde");
  const Finished warned = runAction({traces});
  EXPECT_EQ(warned.status, 0) << warned.err;
  EXPECT_EQ(warned.err, "status=0\n");
  EXPECT_THAT(warned.out,
              AllOf(HasSubstr("::warning title=step-outlier (rank 0)::"),
                    HasSubstr("::warning title=step-outlier (rank 1)::")));
  const std::string file = rules("step-outlier = \"warning\"\n");
  const std::string sarif = folder_ / "find ings.sarif";
  const std::string junit = folder_ / "results.xml";
  const std::vector<std::string> all = {
      "traces=" + (folder_ / "rank0.sonde") + "\n\n" + (folder_ / "rank1.sonde") + "\n",
      "rules=" + file,
      "profile=ci",
      "max-warnings=1",
      "sarif-file=" + sarif,
      "junit-file=" + junit};
  const Finished failed = runAction(all);
  EXPECT_EQ(failed.status, 1);
  EXPECT_EQ(failed.err, "status=1\n");
  readBy("check_sarif.py", readText(sarif));
  EXPECT_EQ(json::parse(readText(sarif))["runs"][0]["results"].size(), 2U);
  EXPECT_EQ(readBy("read_junit.py", readText(junit))["tests"], "2");
  EXPECT_EQ(runAction({traces, "junit-file=" + (folder_ / "none/results.xml")}).status, 3);
  EXPECT_EQ(runAction({traces, "max-warnings=x"}).status, 2);
  EXPECT_EQ(runAction({"traces=" + (folder_ / "no*.sonde")}).status, 3);
  EXPECT_EQ(runAction({"traces=$(touch " + (folder_ / "hurt") + ")"}).status, 3);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "hurt"));
}

TEST_F(CheckReports, ADryRunListsTheRulesAndJudgesNothing) {
  const std::string file = rules(
      "step-outlier = { severity = \"error\", window = 50, max_share = 0.05 }\n"
      "exploding-tensor = \"info\"\nloss-not-decreasing = \"off\"\n");
  const Finished text = sonde({"check", slowRank(0), "--rules", file, "--dry-run"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.out,
            "rule              severity  needs             in the trace      changed parameters\n"
            "exploding-tensor  info      tensor            nothing           -\n"
            "step-outlier      error     annotation,torch  annotation,torch  window = 50\n");
  const json plan =
      jsonOf(sonde({"check", slowRank(0), "--rules", file, "--dry-run", "--format", "json"}));
  EXPECT_EQ(plan["rules"][0]["rule"], "exploding-tensor");
  EXPECT_EQ(plan["rules"][1]["parameters"], "window = 50");
  const std::string wrong = rules("step-outlier = { window = \"x\" }\n");
  EXPECT_EQ(sonde({"check", slowRank(0), "--rules", wrong, "--dry-run"}).status, 2);
  EXPECT_EQ(sonde({"check", folder_ / "missing.sonde", "--dry-run"}).status, 3);
}

TEST_F(CheckReports, ExplainAddsDetailsParametersAndEvidence) {
  const Finished finished = sonde({"check", slowRank(0), "--explain"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("\n              rule: "),
                    HasSubstr("\n              parameters: deviations = 6, max_share = 0.05, "),
                    HasSubstr("\n              outliers: 4\n"),
                    HasSubstr("\n              window: iterations 5-29, 25 samples\n")));
}

TEST_F(CheckReports, OptionsThatContradictAreStatus2) {
  const std::string trace = write(0);
  const std::string file = rules("step-outlier = \"error\"\n");
  const std::vector<std::vector<std::string>> calls = {{"--dry-run", "--explain"},
                                                       {"--dry-run", "--max-warnings", "3"},
                                                       {"--dry-run", "--format", "junit"},
                                                       {"--explain", "--format", "json"},
                                                       {"--findings-only"},
                                                       {"--findings-only", "--format", "junit"},
                                                       {"--profile", "fast"},
                                                       {"-o", trace},
                                                       {"--rules", file, "-o", file}};
  const std::string before = readText(trace);
  for (const auto& call : calls) {
    std::vector<std::string> words = {"check", trace};
    words.insert(words.end(), call.begin(), call.end());
    const Finished refused = sonde(words);
    EXPECT_EQ(refused.status, 2) << call.front() << " " << call.back();
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, AllOf(StartsWith("sonde check: "), HasSubstr(": ")));
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  }
  EXPECT_EQ(readText(trace), before);
  EXPECT_EQ(readText(file), "[rules]\nstep-outlier = \"error\"\n");
}

}  // namespace
}  // namespace sonde::cli
