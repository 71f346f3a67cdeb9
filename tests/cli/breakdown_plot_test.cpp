#include "cli/breakdown/breakdown_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

namespace breakdown = engine::breakdown;
using breakdown::Breakdown;
using breakdown::Group;
using exports::BarChart;
using ::testing::HasSubstr;

constexpr breakdown::Dimensions kBy{.process = true, .operation = true, .category = true};

// Operation i of N takes (N − i) ms in each rank; all C categories are equal. Recorded times are a
// tenth more; the interval is a twentieth to either side.
struct Job {
  int operations;
  int ranks;
  int categories;

  static constexpr std::int64_t kMs = 1'000'000;
  std::vector<std::string> words = {"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9"};

  Group group(int operation, int rank) const {
    Group group;
    group.processId = rank + 1;
    group.operations = {"op" + std::to_string(operation)};
    return group;
  }
  std::int64_t nsOf(int operation) const { return (operations - operation) * kMs; }
  Breakdown made(bool parts) const {
    Breakdown result;
    result.corrected = true;
    for (int rank = 0; rank < ranks; ++rank)
      result.processes.push_back({rank + 1, 100 + rank, rank, 0});
    for (int rank = 0; rank < ranks; ++rank)
      for (int operation = 0; operation < operations; ++operation)
        for (int each = 0; each < (parts ? categories : 1); ++each) {
          Group own = group(operation, rank);
          if (parts)
            own.categories = {words[static_cast<std::size_t>(each)]};
          const std::int64_t ns = nsOf(operation) / (parts ? categories : 1);
          result.rows.push_back({own, ns, ns + ns / 10, ns - ns / 20, ns + ns / 20});
          result.totalNs += ns;
        }
    return result;
  }
  BarChart chart() const { return plotOf(made(true), made(false), kBy, {"job.sonde"}); }
};

std::int64_t sumOf(const BarChart& chart, std::int64_t BarChart::Part::*which) {
  std::int64_t sum = 0;
  for (const BarChart::Group& group : chart.groups)
    for (const BarChart::Bar& bar : group.bars)
      for (const BarChart::Part& part : bar.parts)
        sum += part.*which;
  return sum;
}

TEST(BreakdownPlot, PartsSumToBarsAndBarsToTheWhole) {
  for (const auto& [operations, ranks] :
       {std::pair(1, 1), std::pair(50, 1), std::pair(1, 8), std::pair(50, 8), std::pair(200, 16)}) {
    SCOPED_TRACE(std::to_string(operations) + " operations, " + std::to_string(ranks) + " ranks");
    const Job job{operations, ranks, 10};
    const BarChart chart = job.chart();
    EXPECT_EQ(sumOf(chart, &BarChart::Part::ns), job.made(true).totalNs);
    EXPECT_EQ(sumOf(chart, &BarChart::Part::rawNs), job.made(true).totalNs * 11 / 10);
    for (const BarChart::Group& group : chart.groups) {
      EXPECT_EQ(group.bars.size(), static_cast<std::size_t>(ranks));
      for (const BarChart::Bar& bar : group.bars) {
        std::int64_t ns = 0;
        for (const BarChart::Part& part : bar.parts)
          ns += part.ns;
        EXPECT_EQ(bar.ns, ns);
        EXPECT_EQ(bar.highNs - bar.ns, bar.ns - bar.lowNs);
        EXPECT_EQ(bar.rawNs, bar.ns * 11 / 10);
      }
    }
  }
}

TEST(BreakdownPlot, ThereAreNoMoreBarsThanCanBeRead) {
  EXPECT_EQ((Job{50, 1, 2}.chart().groups.size()), 50U);
  const BarChart chart = Job{50, 8, 2}.chart();
  ASSERT_EQ(chart.groups.size(), 13U);
  EXPECT_EQ(chart.groups.front().label, "op0");
  EXPECT_EQ(chart.groups.back().label, "38 others");
  ASSERT_EQ(chart.notes.size(), 2U);
  EXPECT_THAT(chart.notes[1], HasSubstr("38 small bars are joined"));
  EXPECT_EQ((Job{13, 8, 2}.chart().groups.back().label), "op12") << "one other is itself";
}

TEST(BreakdownPlot, SmallOperationsAreJoined) {
  Job job{3, 1, 1};
  Breakdown parts = job.made(true);
  Breakdown bars = job.made(false);
  for (Breakdown* const each : {&parts, &bars})
    for (int i = 0; i < 5; ++i) {
      Group small = job.group(100 + i, 0);
      if (each == &parts)
        small.categories = {job.words[0]};
      each->rows.push_back({small, 100, 100, 100, 100});
    }
  const BarChart chart = plotOf(parts, bars, kBy, {"t"});
  ASSERT_EQ(chart.groups.size(), 4U);
  EXPECT_EQ(chart.groups.back().label, "5 others");
  EXPECT_EQ(chart.groups.back().bars[0].ns, 500);
}

TEST(BreakdownPlot, CategoriesBeyondSevenAreOne) {
  const BarChart many = Job{2, 1, 10}.chart();
  EXPECT_EQ(many.series.size(), 8U);
  EXPECT_EQ(many.series.back(), "3 others");
  EXPECT_TRUE(many.lastIsRest);
  EXPECT_FALSE((Job{2, 1, 8}.chart().lastIsRest));
}

TEST(BreakdownPlot, OfManyProcessesTheLastAreTheirMean) {
  const BarChart chart = Job{1, 20, 1}.chart();
  ASSERT_EQ(chart.groups[0].bars.size(), 16U);
  EXPECT_EQ(chart.groups[0].bars.back().label, "5 others, mean");
  EXPECT_EQ(chart.groups[0].bars.back().ns, Job::kMs);
  EXPECT_THAT(chart.notes.back(), HasSubstr("There are 20 processes. The last 5 "));
}

TEST(BreakdownPlot, BarsAreNamedByWhatRowsAreToldApartBy) {
  Breakdown all;
  all.processes.push_back({1, 7, {}, 10});
  all.rows.push_back({{}, 10, 10, 10, 10});
  all.totalNs = 10;
  EXPECT_EQ(plotOf(all, all, {.category = true}, {"t"}).groups[0].label, "all");
  EXPECT_EQ(plotOf(all, all, kBy, {"t"}).groups[0].label, "(outside of all)");
  all.rows[0].group.iteration = 4;
  all.rows[0].group.modules = {"Linear"};
  constexpr breakdown::Dimensions kByAll{
      .phase = true, .operation = true, .module = true, .iteration = true};
  EXPECT_EQ(plotOf(all, all, kByAll, {"t"}).groups[0].label, "-, -, Linear, iteration 4");
  EXPECT_EQ(plotOf(all, all, kBy, {"t"}).series, std::vector<std::string>{"time"});
  EXPECT_EQ(plotOf(all, all, kBy, {"t"}).groups[0].bars[0].label, "");
}

TEST(BreakdownPlot, APhaseAndAnOperationOfOneNameAreTwo) {
  Breakdown all;
  all.processes.push_back({1, 7, {}, 20});
  Group phase;
  phase.phases = {"train"};
  Group operation;
  operation.operations = {"train"};
  all.rows = {{phase, 12, 12, 12, 12}, {operation, 8, 8, 8, 8}};
  all.totalNs = 20;
  const BarChart chart = plotOf(all, all, {.phase = true, .operation = true}, {"t"});
  ASSERT_EQ(chart.groups.size(), 2U);
  EXPECT_EQ(chart.groups[0].label, "train, -");
  EXPECT_EQ(chart.groups[0].bars[0].ns, 12);
  EXPECT_EQ(chart.groups[1].label, "-, train");
}

TEST(BreakdownPlot, OfManyIterationsAsManyAreShownAsThereIsRoomFor) {
  Breakdown all;
  all.processes.push_back({1, 7, {}, 0});
  for (std::int64_t number = 0; number < 5000; ++number) {
    Group group;
    group.iteration = number;
    all.rows.push_back({group, Job::kMs, Job::kMs, Job::kMs, Job::kMs});
    all.totalNs += Job::kMs;
  }
  const BarChart chart = plotOf(all, all, {.iteration = true}, {"t"});
  ASSERT_EQ(chart.groups.size(), kMostBars + 1);
  EXPECT_EQ(chart.groups.back().label, "4904 others");
}

TEST(BreakdownPlot, IterationsAreInTheirOrder) {
  Breakdown all;
  all.processes.push_back({1, 7, {}, 0});
  for (const std::int64_t number : {3, 1, 2}) {
    Group group;
    group.iteration = number;
    const std::int64_t ns = number % 3 * Job::kMs + Job::kMs;  // 3 is the shortest
    all.rows.push_back({group, ns, ns, ns, ns});
    all.totalNs += ns;
  }
  const BarChart chart = plotOf(all, all, {.iteration = true}, {"t"});
  ASSERT_EQ(chart.groups.size(), 3U);
  for (std::size_t at = 0; at < 3; ++at)
    EXPECT_EQ(chart.groups[at].label, "iteration " + std::to_string(at + 1));
}

TEST(BreakdownPlot, HasANameThatSaysWhatItIs) {
  for (const char* const name : {"a.svg", "a.PNG", "/x/y.b.Svg"})
    EXPECT_TRUE(checkPlotName(name)) << name;
  for (const char* const name : {"a.pdf", "svg", "a", "", "-", ".svg", "png/a"})
    EXPECT_FALSE(checkPlotName(name)) << name;
}

}  // namespace
}  // namespace sonde::cli
