#include "session/run_summary.h"

#include "tests/session/scratch_folder.h"

#include <gmock/gmock.h>

#include <algorithm>

#include <nlohmann/json.hpp>

namespace sonde::session {
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
  EXPECT_EQ(lines[1], "30 names were lost: what is named so is called (name lost)");
  summary.totals.dropped = {{"signal", 1}, {"names", 1}};
  lines = summaryLines(summary, std::nullopt);
  EXPECT_EQ(lines[0], "1 record was dropped: signal 1");
  EXPECT_EQ(lines[1], "1 name was lost: what is named so is called (name lost)");
}

TEST(RunSummary, SaysAFewWarningsAndHowManyMoreThereAre) {
  RecordingSummary summary = sample("/x/a.sonde");
  summary.totals.warnings.assign(10, "held up");
  const auto lines = summaryLines(summary, std::nullopt);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "held up"), 8);
  EXPECT_THAT(lines[8], HasSubstr("2 more"));
}

TEST(RunSummary, SaysHowMuchWasNotRecorded) {
  RecordingSummary summary = sample("/x/a.sonde");
  summary.unrecordedSeconds = 4.25;
  EXPECT_THAT(summaryLines(summary, std::nullopt).front(),
              HasSubstr("12.5 s run, all but the last 4.2 s recorded;"));
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
}  // namespace sonde::session
