// `sonde report` with small traces of known numbers.
#include "cli/report/report_lines.h"
#include "cli/report/report_text.h"
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using test::kMs;
using test::TrainingRun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Report : public Verbs {};

TEST_F(Report, IsOneScreenAndStable) {
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

TEST_F(Report, OfManyRanksStaysOneScreen) {
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

TEST_F(Report, JsonHasTheContractsKeysAndTheRunsNumbers) {
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
  EXPECT_EQ(backward["p99_ns"], 40 * kMs);
  EXPECT_DOUBLE_EQ(backward["share"], 0.4);
  EXPECT_TRUE(report["dropped"].empty());
  EXPECT_TRUE(report["recorder"].contains("cpu_s"));
  EXPECT_TRUE(report["recorder"].contains("bytes"));
  EXPECT_EQ(report["conservation"]["pairs"], 1);
  EXPECT_EQ(report["conservation"]["agreeing_pairs"], 1);
  EXPECT_EQ(report["conservation"]["sent_bytes"], 2 * 60 * 1000);
}

TEST_F(Report, JsonHasRanksAsNumbersEverywhere) {
  const json report = jsonOf(sonde({"report", write(0), write(1), "--format", "json"}));
  for (const char* key : {"ranks", "iterations", "operations", "traffic", "scalars"}) {
    std::set<json> ranks;
    for (const json& row : report[key])
      ranks.insert(row["rank"]);
    EXPECT_THAT(ranks, ElementsAre(json(0), json(1))) << key;
  }
}

// A program that only annotates, over `wallNs`; its computing was not recorded.
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
  trace.meta("recorder_rss_bytes", std::to_string(24 << 20));
  trace.finish();
}

TEST_F(Report, CallsComputeUnknownWithoutAFramework) {
  const std::string trace = folder_ / "annotated.sonde";
  writeAnnotatedRun(trace, 2000 * kMs, false);
  const std::string text = sonde({"report", trace}).out;
  EXPECT_THAT(
      text,
      HasSubstr(
          "\nNo passes, modules or operators were recorded: the computing time is unknown.\n"));
  EXPECT_THAT(text, Not(HasSubstr("idle")));
  EXPECT_THAT(text, HasSubstr("0.50 s of CPU, "));
  const json rank = jsonOf(sonde({"report", trace, "--format", "json"}))["ranks"][0];
  EXPECT_EQ(rank["window_ns"], 2000 * kMs);
  for (const char* key : {"compute_ns", "exposed_comm_ns", "idle_ns", "comm_overlap"})
    EXPECT_TRUE(rank.contains(key) && rank[key].is_null()) << key;
}

TEST_F(Report, KeepsTheCollectivesWithoutAFramework) {
  const std::string trace = folder_ / "annotated.sonde";
  writeAnnotatedRun(trace, 2000 * kMs, true);
  const std::string text = sonde({"report", trace}).out;
  EXPECT_THAT(text,
              HasSubstr("rank 0     2 s        -      -            1  1 ms       -        -"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "The computing time is unknown where no passes, modules or operators were recorded."));
  const json rank = jsonOf(sonde({"report", trace, "--format", "json"}))["ranks"][0];
  EXPECT_EQ(rank["comm_ns"], kMs);
  EXPECT_TRUE(rank["comm_overlap"].is_null());
}

TEST_F(Report, GivesNoShareOfACoreForAnInstant) {
  const std::string trace = folder_ / "annotated.sonde";
  writeAnnotatedRun(trace, 200 * kMs, false);
  EXPECT_THAT(sonde({"report", trace}).out, HasSubstr("\nRecording  0.50 s of CPU, 24"));
}

// A process of `writeTree`: `parent` is the index of another one.
struct Member {
  const char* command;
  std::optional<int> parent;
  std::optional<std::int64_t> rank;
  bool operates = false;
};

// Processes that start 1 ms after one another; each fact of `metadata` comes from the process with
// its index.
void writeTree(const std::string& path,
               const std::vector<Member>& members,
               const std::vector<std::tuple<int, const char*, const char*>>& metadata = {}) {
  test::TraceBuilder trace(path);
  const auto host = trace.add(model::Host{.name = "host-a", .bootId = "boot-a"});
  std::vector<model::ProcessId> ids;
  for (const Member& member : members) {
    const auto at = static_cast<std::int64_t>(ids.size());
    ids.push_back(trace.add(
        model::Process{.hostId = host,
                       .pid = 100 + at,
                       .parentId = member.parent ? ids.at(static_cast<std::size_t>(*member.parent))
                                                 : model::ProcessId{},
                       .rank = member.rank,
                       .command = member.command,
                       .startNs = at * kMs,
                       .endNs = 1000 * kMs,
                       .state = model::ProcessState::Exited}));
    const auto thread = trace.add(model::Thread{.processId = ids.back(), .tid = 100 + at});
    if (member.operates)
      trace.slice(thread, model::SliceKind::Operation, "work", {at * kMs, 900 * kMs});
  }
  for (const auto& [process, key, value] : metadata)
    trace.add(model::Arg{.owner = model::Owner::Process,
                         .ownerId = ids.at(static_cast<std::size_t>(process)).value,
                         .keyId = trace.name(key),
                         .value = std::string_view(value)});
  trace.finish();
}

TEST_F(Report, CountsRanksNotProcesses) {
  const std::string trace = folder_ / "tree.sonde";
  writeTree(trace,
            {{"torchrun train.py", {}, {}, false},
             {"python3 train.py", 0, 0, true},
             {"python3 train.py", 1, 0, true},
             {"python3 train.py", 0, 1, true}});
  EXPECT_THAT(sonde({"report", trace}).out, HasSubstr("\n2 ranks, 4 processes, 1 host · "));
}

TEST_F(Report, SaysNothingOfRanksWhereNoneIsKnown) {
  const std::string trace = folder_ / "tree.sonde";
  writeTree(trace, {{"bash -c 'ls | wc'", {}, {}, true}, {"wc", 0, {}, false}});
  EXPECT_THAT(sonde({"report", trace}).out, HasSubstr("\n2 processes, 1 host · "));
}

TEST_F(Report, NamesTheCommandThatBeganTheRunOnOneLine) {
  const std::string trace = folder_ / "tree.sonde";
  writeTree(trace,
            {{"sh -c 'cd /tmp\npython3 train.py'", {}, {}, false},
             {"python3 train.py", 0, {}, false},
             {"python3 -c 'from multiprocessing.spawn import spawn_main'", 1, 0, true},
             {"python3 -c 'from multiprocessing.spawn import spawn_main'", 1, 1, true},
             {"a daemon", {}, {}, true}});
  EXPECT_THAT(sonde({"report", trace}).out, StartsWith("sh -c 'cd /tmp python3 train.py'\n2 rank"));
  EXPECT_EQ(jsonOf(sonde({"report", trace, "--format", "json"}))["command"],
            "sh -c 'cd /tmp\npython3 train.py'");
}

TEST_F(Report, ShowsWhatTheProgramSaysOfItself) {
  const std::string trace = folder_ / "tree.sonde";
  writeTree(trace,
            {{"train", {}, 0, true}, {"train", {}, 1, true}},
            {{0, "seed", "7"},
             {0, "algorithm", "sgd"},
             {0, "algorithm", "adam"},  // the later call counts
             {1, "algorithm", "adam"},
             {1, "seed", "8"},
             {1, "env.RANK", "1"},
             {1, "nvtx stream 0x1", "copies"}});
  EXPECT_THAT(sonde({"report", trace}).out, HasSubstr("\nalgorithm: adam · seed: 7, 8\n\n"));
  EXPECT_EQ(jsonOf(sonde({"report", trace, "--format", "json"}))["metadata"],
            json::parse(R"([{"rank": 0, "key": "algorithm", "value": "adam"},
                            {"rank": 1, "key": "algorithm", "value": "adam"},
                            {"rank": 0, "key": "seed", "value": "7"},
                            {"rank": 1, "key": "seed", "value": "8"}])"));
}

TEST_F(Report, MuchMetadataLeavesRoomForTheRest) {
  const std::string trace = folder_ / "tree.sonde";
  std::string value = "a";
  for (int words = 0; words < 200; ++words)
    value += " configuration";
  writeTree(trace, {{"train", {}, 0, true}}, {{0, "all", value.c_str()}, {0, "z", "last"}});
  EXPECT_THAT(sonde({"report", trace}).out, HasSubstr("configuration\n… more: --full\n\n"));
  EXPECT_THAT(sonde({"report", trace, "--full"}).out, HasSubstr("configuration · z: last\n\n"));
}

TEST_F(Report, ShowsTheMemoryOfTheRecorder) {
  const std::string trace = folder_ / "annotated.sonde";
  writeAnnotatedRun(trace, 200 * kMs, false);
  EXPECT_THAT(sonde({"report", trace}).out,
              HasSubstr("\nRecording  0.50 s of CPU, 24.0 MiB of memory, 1 row"));
  EXPECT_EQ(jsonOf(sonde({"report", trace, "--format", "json"}))["recorder"]["rss_bytes"],
            24 << 20);
}

TEST(ReportText, WrapsWhatConnectionsDisagreeAbout) {
  JobReport report;
  report.traffic.push_back({.rank = 0, .process = "rank 0", .kind = "tcp", .peer = "rank 1"});
  report.conservation = {.pairs = 123'456, .exactPairs = 100'000, .agreeingPairs = 100'000};
  const std::string text = renderReport(report, false);
  EXPECT_THAT(text, HasSubstr(" byte for byte (23456 inexact,\n  not compared)\n"));
}

TEST(ReportText, DoesNotCallInexactConnectionsEqual) {
  JobReport report;
  report.traffic.push_back({.rank = 0, .process = "rank 0", .kind = "pipe", .peer = "rank 1"});
  report.conservation = {.pairs = 3};
  EXPECT_THAT(
      renderReport(report, false),
      HasSubstr("\n  3 connections recorded at both ends, but only in part: nothing to compare\n"));
}

TEST(ReportText, WrapsTheReasonsOfLosses) {
  JobReport report;
  for (const char* reason : {"a signal", "no room in the spool", "not followed", "past --max-size"})
    report.facts.lost.push_back({"net", "transfer", reason, 123'456'789});
  EXPECT_THAT(renderReport(report, false),
              HasSubstr("\nDropped    493,827,156 records · a signal: 123,456,789 · no room in the "
                        "spool: 123,456,789 · not\n           followed: 123,456,789 · past "
                        "--max-size: 123,456,789\nRecording  unknown, 0 rows\n"));
}

TEST(ReportLines, WrapCountsCharactersAndCutsOnlyWords) {
  std::string wide;
  for (int words = 0; words < 30; ++words)
    wide += "ünïcödé ";
  Lines lines;
  appendWrapped(lines, wide + std::string(120, 'x') + " end", 4);
  EXPECT_THAT(lines,
              ElementsAre("    " + wide.substr(0, 12 * 12 - 1),
                          "    " + wide.substr(0, 12 * 12 - 1),
                          "    " + wide.substr(0, 6 * 12 - 1),
                          "    " + std::string(95, 'x') + "…",
                          "    end"));
}

}  // namespace
}  // namespace sonde::cli
