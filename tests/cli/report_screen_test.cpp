// The parts of a report that shrink so that it fits on a screen.
#include "cli/report/report_screen.h"

#include "cli/report/report_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>

namespace sonde::cli {
namespace {

namespace metrics = engine::metrics;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::int64_t kMs = 1'000'000;

RankReport rankReport(std::int64_t number) {
  RankReport rank;
  rank.process.processId = number + 1;
  rank.process.name = fmt::format("rank {}", number);
  rank.iterations = {100, 10 * kMs, 12 * kMs, 9 * kMs, 15 * kMs};
  rank.parts = metrics::IterationParts{.durNs = 10 * kMs, .otherNs = 10 * kMs};
  rank.time.computeKnown = true;
  rank.time.windowNs = 1000 * kMs;
  for (int i = 0; i < 20; ++i) {
    metrics::OperationTime& operation = rank.operations.emplace_back();
    operation.kind = "operation";
    operation.name = fmt::format("operation {}", i);
  }
  return rank;
}

// A report of `ranks` ranks with all kinds of records.
JobReport reportOf(std::int64_t ranks) {
  JobReport report;
  report.facts.command = "train";
  for (std::int64_t number = 0; number < ranks; ++number) {
    report.ranks.push_back(rankReport(number));
    const std::string name = report.ranks.back().process.name;
    metrics::Throughput& throughput = report.throughput.emplace_back();
    throughput.process = name;
    throughput.samplesPerSecond = 100;
    metrics::ThreadTime& thread = report.threads.emplace_back();
    thread.processId = number + 1;
    thread.rank = number;
    thread.wallNs = kMs;
    metrics::PythonTime& python = report.python.emplace_back();
    python.kind = "operation";
    python.name = name;
    python.wallNs = kMs;
    report.traffic.push_back({.rank = number, .process = name, .kind = "tcp", .peer = "rank 0"});
    report.scalars.emplace_back().name = fmt::format("loss {}", number);
    report.usage.memory.emplace_back().process = name;
    report.usage.energy.emplace_back().place = name;
  }
  return report;
}

std::int64_t linesIn(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

TEST(ReportScreen, HasAllPartsWhereThereIsRoom) {
  JobReport report = reportOf(1);
  report.python.clear();
  const std::string text = renderReport(report, false);
  EXPECT_LE(linesIn(text), 40) << text;
  for (const char* part : {"\nIterations",
                           "\nThroughput",
                           "\nComputing",
                           "\nThreads",
                           "\nMemory",
                           "\nEnergy",
                           "\nOperations",
                           "\nData moved",
                           "\nValues"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("Left out")));
}

TEST(ReportScreen, OfManyRanksThatRecordedAllSaysWhatGaveWay) {
  const std::string text = renderReport(reportOf(8), false);
  EXPECT_LE(linesIn(text), 40) << text;
  for (const char* part : {"train\n",
                           "\nIterations",
                           "\nThroughput",
                           "\nComputing",
                           "\nOperations",
                           "\nDropped",
                           "\nRecording"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, HasSubstr("\nLeft out   Python, data moved: --full\n"));
  const std::string full = renderReport(reportOf(8), true);
  EXPECT_THAT(full, HasSubstr("\nData moved"));
  EXPECT_THAT(full, Not(HasSubstr("Left out")));
}

TEST(ReportScreen, LossesAndWarningsNeverGiveWay) {
  JobReport report = reportOf(8);
  for (const char* text : {"first warning", "second warning", "third warning"})
    report.facts.warnings.push_back({std::nullopt, text});
  report.facts.metadata = {{0, "seed", "7"}};
  const std::string text = renderReport(report, false);
  EXPECT_LE(linesIn(text), 40) << text;
  EXPECT_THAT(text, HasSubstr("\n           third warning\n"));
  EXPECT_THAT(text, HasSubstr("\nComputing"));
}

TEST(ReportScreen, SubjectsThatGaveWayAreCounted) {
  const UsageReport usage = reportOf(1).usage;
  EXPECT_THAT(usageLines(usage, 2), ElementsAre("", StartsWith("Memory"), StartsWith("Energy")));
  EXPECT_THAT(usageLines(usage, 1),
              ElementsAre("", StartsWith("Memory"), "           … 1 more: --full"));
}

TEST(ReportScreen, OperationsTakeTheRoomThatIsLeft) {
  // The traffic takes more than a line per row: without it there is more room than was missing.
  const auto height = [](const RowLimits& limits) {
    return limits.operations + (limits.traffic > 0 ? 20 + limits.traffic : 0) + limits.iterations;
  };
  const RowLimits limits = fitted(height, 25);
  EXPECT_EQ(limits.traffic, 0U);
  EXPECT_EQ(limits.operations, 12U);
  EXPECT_EQ(limits.iterations, 4U);
  EXPECT_EQ(fitted(height, 100).traffic, RowLimits().traffic);
}

TEST(ReportScreen, WhatCannotFitEnds) {
  const RowLimits limits = fitted([](const RowLimits&) { return std::size_t{41}; }, 40);
  EXPECT_EQ(limits.operations, 1U);
  EXPECT_EQ(limits.threads, 0U);
}

}  // namespace
}  // namespace sonde::cli
