// Models of all-reduces beside the published tables of nccl-tests on 2, 4 and 8 A100.
#include "analysis/engine/models/collective_model.h"

#include "analysis/engine/models/fit_collectives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace sonde::engine::models {
namespace {

const std::filesystem::path kTables = std::filesystem::path(SONDE_REFERENCE_DATA) / "collectives";
constexpr std::size_t kFitted = 10;  // sizes of a table

struct Row {
  std::int64_t bytes = 0;
  double ns = 0;  // out of place
};
using Table = std::vector<Row>;

Table readTable(std::int64_t ranks) {
  std::ifstream file(kTables / ("a100_allreduce_" + std::to_string(ranks) + "gpu.csv"));
  std::string line;
  std::getline(file, line);
  Table table;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');)
      row.push_back(cell);
    table.push_back({std::stoll(row.at(0)), std::stod(row.at(3))});
  }
  return table;
}

// Rows of `table` next to `count` sizes that are evenly spaced in their logarithm.
std::set<std::size_t> logSpaced(const Table& table, std::size_t count) {
  const auto least = static_cast<double>(table.front().bytes);
  const double range = static_cast<double>(table.back().bytes) / least;
  std::set<std::size_t> found;
  for (std::size_t i = 0; i < count; ++i) {
    const double size =
        least * std::pow(range, static_cast<double>(i) / static_cast<double>(count - 1));
    const auto next =
        std::min_element(table.begin(), table.end(), [size](const Row& a, const Row& b) {
          return std::abs(static_cast<double>(a.bytes) - size) <
                 std::abs(static_cast<double>(b.bytes) - size);
        });
    found.insert(static_cast<std::size_t>(next - table.begin()));
  }
  return found;
}

void addPoints(const Table& table, std::int64_t ranks, std::vector<CollectivePoint>& points) {
  for (const std::size_t at : logSpaced(table, kFitted))
    points.push_back({costOf("allreduce", table[at].bytes, ranks), table[at].ns, 1, ranks});
}

struct Judged {
  double mean = 0;  // relative error
  double worst = 0;
  double inside = 0;  // part of the sizes whose time is in the interval
};

Judged judge(const CollectiveModel& model,
             const Table& table,
             const std::set<std::size_t>& rows,
             std::int64_t ranks) {
  Judged judged;
  for (const std::size_t at : rows) {
    const double ratio = model.ns("allreduce", table[at].bytes, ranks) / table[at].ns;
    const double factor = 1 + model.interval(table[at].bytes, ranks);
    judged.mean += std::abs(ratio - 1) / static_cast<double>(rows.size());
    judged.worst = std::max(judged.worst, std::abs(ratio - 1));
    if (ratio <= factor && ratio >= 1 / factor)
      judged.inside += 1 / static_cast<double>(rows.size());
  }
  std::printf("%zu sizes of %d ranks: mean error %.1f %%, worst %.1f %%, %.1f %% in the interval\n",
              rows.size(),
              static_cast<int>(ranks),
              100 * judged.mean,
              100 * judged.worst,
              100 * judged.inside);
  return judged;
}

class CollectiveTables : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(kTables))
      GTEST_SKIP() << "skipped: reference data not present";
  }
};

TEST_F(CollectiveTables, TenSizesPredictTheOthers) {
  for (const std::int64_t ranks : {2, 4, 8}) {
    const Table table = readTable(ranks);
    ASSERT_EQ(table.size(), 1024);
    std::vector<CollectivePoint> points;
    addPoints(table, ranks, points);
    std::set<std::size_t> others;
    const std::set<std::size_t> fitted = logSpaced(table, kFitted);
    for (std::size_t at = 0; at < table.size(); ++at)
      if (fitted.count(at) == 0)
        others.insert(at);
    const CollectiveModel model = fitCollectives(points);
    const Judged judged = judge(model, table, others, ranks);
    EXPECT_LE(judged.mean, 0.04);
    EXPECT_GE(judged.inside, 0.85);
    EXPECT_LE(model.interval(16 << 20, ranks), 0.35);
    std::printf("  stated: %.1f %% error, interval of %.1f %%\n",
                100 * model.error,
                100 * model.interval(16 << 20, ranks));
  }
}

TEST_F(CollectiveTables, TwoAndFourRanksPredictEight) {
  std::vector<CollectivePoint> points;
  for (const std::int64_t ranks : {2, 4})
    addPoints(readTable(ranks), ranks, points);
  const CollectiveModel model = fitCollectives(points);
  const Table truth = readTable(8);
  for (const std::size_t count : {10U, 20U, 40U}) {
    const Judged judged = judge(model, truth, logSpaced(truth, count), 8);
    EXPECT_LE(judged.mean, 0.15);
    EXPECT_LE(judged.worst, 0.4);
    EXPECT_GE(judged.inside, 0.85);
  }
  for (const std::int64_t mib : {1, 16, 256}) {
    std::printf("  stated for %d MiB: interval of %.0f %%\n",
                static_cast<int>(mib),
                100 * model.interval(mib << 20, 8));
  }
  EXPECT_LE(model.interval(256 << 20, 8), 0.25);
}

}  // namespace
}  // namespace sonde::engine::models
