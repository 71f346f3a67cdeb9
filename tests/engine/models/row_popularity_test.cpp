#include "analysis/engine/models/kernels/row_popularity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace sonde::engine::models {
namespace {

double exactShare(std::int64_t rows, double skew, std::int64_t first) {
  double sum = 0;
  double all = 0;
  for (std::int64_t k = 1; k <= rows; ++k) {
    const double weight = std::pow(static_cast<double>(k), -skew);
    all += weight;
    sum += k <= first ? weight : 0;
  }
  return sum / all;
}

TEST(RowPopularity, SumsZipfsLaw) {
  EXPECT_DOUBLE_EQ(shareOfFirst({4, 1}, 2), (1 + 1.0 / 2) / (1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4));
  EXPECT_DOUBLE_EQ(shareOfFirst({1000, 0}, 100), 0.1);
  EXPECT_DOUBLE_EQ(shareOfFirst({1000, 1.2}, 2000), 1);
  for (const double skew : {0.5, 1.0, 1.3})
    for (const std::int64_t first : {500, 5000, 100'000})
      EXPECT_NEAR(shareOfFirst({1'000'000, skew}, static_cast<double>(first)),
                  exactShare(1'000'000, skew, first),
                  1e-6)
          << skew << " " << first;
}

TEST(RowPopularity, CountsRowsThatOccur) {
  EXPECT_NEAR(occurringOfFirst({1000, 0}, 1000, 1000), 1000 * (1 - std::pow(0.999, 1000)), 1e-9);
  EXPECT_NEAR(occurringOfFirst({2, 1}, 2, 3),
              (1 - std::pow(1.0 / 3, 3)) + (1 - std::pow(2.0 / 3, 3)),
              1e-9);
}

TEST(RowPopularity, IsRightToOnePercent) {
  constexpr int kRows = 50'000;
  constexpr int kLookups = 20'000;
  for (const double skew : {0.7, 1.0, 1.1}) {
    double all = 0;
    for (int k = 1; k <= kRows; ++k)
      all += std::pow(k, -skew);
    double expected = 0;
    for (int k = 1; k <= kRows; ++k) {
      expected += 1 - std::pow(1 - std::pow(k, -skew) / all, kLookups);
      if (k != 5000 && k != kRows)
        continue;
      EXPECT_NEAR(occurringOfFirst({kRows, skew}, k, kLookups), expected, 0.01 * expected)
          << skew << " " << k;
    }
  }
}

}  // namespace
}  // namespace sonde::engine::models
