#include "recorder/run/run_summary.h"

#include "tests/recorder/scratch_folder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

namespace sonde::recorder {
namespace {

using ::testing::HasSubstr;

RecordingSummary sample(const std::filesystem::path& output) {
  RecordingSummary summary;
  summary.output = output;
  summary.seconds = 12.5;
  summary.recorderCpuNs = 250'000'000;
  summary.recorderBytes = 20 << 20;
  summary.totals.events = {{"slice", 10}};
  summary.totals.bytes = 4096;
  return summary;
}

TEST(RunSummary, TheLastLineNamesTheTraceAndTheNextCommand) {
  const auto lines =
      summaryLines(sample(std::filesystem::current_path() / "a.sonde"), std::nullopt);
  EXPECT_EQ(lines.back(), "wrote a.sonde: next: sonde report a.sonde");
  EXPECT_THAT(lines.front(), HasSubstr("0.25 s of CPU and 20 MiB of memory"));
}

TEST(RunSummary, OneOfManyRanksIsMergedFirst) {
  const auto lines = summaryLines(sample("/x/rank0.sonde"), 2);
  EXPECT_THAT(lines.back(), HasSubstr("sonde merge -o job.sonde /x/*.sonde"));
}

TEST(RunSummary, SaysWhatWasDropped) {
  RecordingSummary summary = sample("/x/a.sonde");
  summary.totals.dropped = {{"spool full", 7}, {"signal", 1}, {"depth", 0}, {"names", 30}};
  auto lines = summaryLines(summary, std::nullopt);
  EXPECT_EQ(lines[0], "8 records were dropped: signal 1, spool full 7");
  EXPECT_EQ(lines[1], "30 names were lost and replaced by (name lost)");
  summary.totals.dropped = {{"signal", 1}, {"names", 1}};
  lines = summaryLines(summary, std::nullopt);
  EXPECT_EQ(lines[0], "1 record was dropped: signal 1");
  EXPECT_EQ(lines[1], "1 name was lost and replaced by (name lost)");
}

TEST(RunSummary, SaysAFewWarningsAndHowManyMoreThereAre) {
  RecordingSummary summary = sample("/x/a.sonde");
  summary.totals.warnings.assign(10, "held up");
  const auto lines = summaryLines(summary, std::nullopt);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "held up"), 8);
  EXPECT_THAT(lines[8], HasSubstr("2 more"));
}

TEST(RunSummary, SaysWhatCalibrationFound) {
  RecordingSummary summary = sample("/x/a.sonde");
  summary.calibration = CalibrationFound{
      "", 10e6, 310e3, 10.2e3, 9e3, 540, 60, {{"torch", 220e3, 8e3}, {"net", 60e3, 2e3}}};
  EXPECT_THAT(summaryLines(summary, std::nullopt).front(),
              "recording takes 3.1 % ± 0.2 % of an iteration (torch 2.2, net 0.6)");
  summary.calibration->whyNot = "the run had no iterations";
  EXPECT_THAT(summaryLines(summary, std::nullopt).front(),
              "the cost of recording could not be measured: the run had no iterations");
  summary.calibration = CalibrationFound{"", 0, 0, 0, 0, 0, 0, {}};
  EXPECT_THAT(summaryLines(summary, std::nullopt).front(),
              HasSubstr("iterations have no duration"));
}

TEST(RunSummary, AsJsonItHasWhatCalibrationFound) {
  const ScratchFolder folder;
  const std::string file = folder.path() / "summary.json";
  const auto written = [&](const RecordingSummary& summary) {
    EXPECT_TRUE(writeSummary(file, summary, 0));
    std::ifstream text(file);
    return nlohmann::json::parse(text);
  };
  RecordingSummary summary = sample("/x/a.sonde");
  EXPECT_TRUE(written(summary)["calibration"].is_null());
  summary.calibration =
      CalibrationFound{"", 10e6, 310e3, 10.2e3, 9e3, 540, 60, {{"torch", 220e3, 8e3}}};
  const nlohmann::json found = written(summary)["calibration"];
  EXPECT_EQ(found["iteration_ns"], 10'000'000);
  EXPECT_EQ(found["overhead_ns"], 310'000);
  EXPECT_EQ(found["error_ns"], 10'200);
  EXPECT_EQ(found["noise_ns"], 9'000);
  EXPECT_EQ(found["probes"][0]["probe"], "torch");
  EXPECT_EQ(found["probes"][0]["ns"], 220'000);
  EXPECT_TRUE(found["reason"].is_null());
  summary.calibration->whyNot = "none";
  EXPECT_EQ(written(summary)["calibration"]["reason"], "none");
  EXPECT_TRUE(written(summary)["calibration"]["overhead_ns"].is_null());
}

TEST(RunSummary, SaysHowMuchWasNotRecorded) {
  RecordingSummary summary = sample("/x/a.sonde");
  summary.unrecordedSeconds = 4.25;
  EXPECT_THAT(summaryLines(summary, std::nullopt).front(),
              HasSubstr("12.5 s run, except the last 4.2 s, recorded;"));
}

TEST(RunSummary, WritesJson) {
  const ScratchFolder folder;
  RecordingSummary summary = sample("/x/a.sonde");
  summary.totals.dropped = {{"spool full", 7}};
  const auto file = folder.path() / "s.json";
  ASSERT_TRUE(writeSummary(file, summary, -9));
  const auto json = nlohmann::json::parse(readFile(file));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["path"], "/x/a.sonde");
  EXPECT_EQ(json["events"]["slice"], 10);
  EXPECT_EQ(json["dropped"]["spool full"], 7);
  EXPECT_EQ(json["seconds"], 12.5);
  EXPECT_EQ(json["recorder"]["cpu_s"], 0.25);
  EXPECT_EQ(json["recorder"]["bytes"], 4096);
  EXPECT_EQ(json["exit_status"], -9);
  EXPECT_FALSE(writeSummary("/no/such/folder/s.json", summary, 0));
}

}  // namespace
}  // namespace sonde::recorder
