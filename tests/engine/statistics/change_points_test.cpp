// Rates at which changes are found, and false ones reported, in simulated series with fixed seeds.
#include "analysis/engine/statistics/change_points.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace sonde::engine::statistics {
namespace {

using Values = std::vector<double>;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Noise of standard deviation 1 around `level`; Student's t and the lognormal have their own.
class Series {
 public:
  explicit Series(unsigned seed) : random_(seed) {}

  // x(i) = φ x(i − 1) + noise.
  Values autoregressive(std::size_t count, double phi) {
    Values values;
    double value = normal_(random_);
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(value);
      value = phi * value + std::sqrt(1 - phi * phi) * normal_(random_);
    }
    return values;
  }
  Values heavyTailed(std::size_t count) {
    std::student_t_distribution<double> noise(2);
    return drawn(count, [&] { return noise(random_); });
  }
  Values lognormal(std::size_t count) {
    return drawn(count, [&] { return std::exp(normal_(random_)); });
  }
  // One in twenty is 30 standard deviations higher.
  Values withOutliers(std::size_t count) {
    return drawn(count, [&] { return normal_(random_) + (random_() % 20 == 0 ? 30 : 0); });
  }

 private:
  Values drawn(std::size_t count, const std::function<double()>& draw) {
    Values values(count);
    for (double& value : values)
      value = draw();
    return values;
  }

  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

Values plus(Values values, const std::function<double(std::size_t)>& more) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] += more(i);
  return values;
}

// The share of series in which something is found.
double alarms(const std::function<Values()>& make, int rounds = 400) {
  int found = 0;
  for (int i = 0; i < rounds; ++i)
    found += changePoints(make()).empty() ? 0 : 1;
  return static_cast<double>(found) / rounds;
}

// The share of series with one change, within two values of `at`.
double hits(std::size_t at, const std::function<Values()>& make, int rounds = 200) {
  int found = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::vector<std::size_t> places = changePoints(make());
    found += places.size() == 1 && places[0] + 2 >= at && places[0] <= at + 2 ? 1 : 0;
  }
  return static_cast<double>(found) / rounds;
}

TEST(ChangePoints, OfAStepWithoutNoiseAreItsPlace) {
  Values values(40, 5.0);
  EXPECT_THAT(changePoints(values), IsEmpty());
  for (std::size_t i = 17; i < values.size(); ++i)
    values[i] = 7;
  EXPECT_THAT(changePoints(values), ElementsAre(17U));
}

TEST(ChangePoints, OfFewValuesAreNone) {
  for (const std::size_t count : {0U, 1U, 2U, 19U}) {
    Values values(count, 1.0);
    for (std::size_t i = count / 2; i < count; ++i)
      values[i] = 100;
    EXPECT_THAT(changePoints(values), IsEmpty()) << count;
  }
}

TEST(ChangePoints, AreRarelyFoundInNoise) {
  Series series(5);
  for (const std::size_t count : {24U, 40U, 100U, 300U}) {
    const auto rate = [&](const char* what, double most, const std::function<Values()>& make) {
      const double share = alarms(make);
      EXPECT_LE(share, most) << what << ", " << count << " values";
      RecordProperty(std::string(what) + std::to_string(count), std::to_string(share));
    };
    rate("independent", 0.04, [&] { return series.autoregressive(count, 0); });
    rate("phi_0.3_", 0.04, [&] { return series.autoregressive(count, 0.3); });
    rate("phi_0.5_", 0.05, [&] { return series.autoregressive(count, 0.5); });
    rate("phi_0.7_", 0.07, [&] { return series.autoregressive(count, 0.7); });
    rate("student", 0.04, [&] { return series.heavyTailed(count); });
    rate("lognormal", 0.04, [&] { return series.lognormal(count); });
    rate("outliers", 0.04, [&] { return series.withOutliers(count); });
  }
}

// A machine that gets slower step by step has no single moment of change.
TEST(ChangePoints, AreNotFoundInDrift) {
  Series series(6);
  for (const std::size_t count : {40U, 100U, 300U})
    for (const double drift : {3.0, 10.0, 30.0})
      EXPECT_LE(alarms([&] {
                  return plus(series.autoregressive(count, 0.3), [&](std::size_t i) {
                    return drift * static_cast<double>(i) / static_cast<double>(count);
                  });
                }),
                0.03)
          << count << " values, drift " << drift;
}

TEST(ChangePoints, AreNotFoundInASlowStart) {
  Series series(7);
  for (const std::size_t count : {40U, 100U, 300U})
    EXPECT_LE(alarms([&] {
                return plus(series.autoregressive(count, 0),
                            [](std::size_t i) { return i < 5 ? 50 : 0; });
              }),
              0.04)
        << count;
}

TEST(ChangePoints, AreFoundWhereTheyAre) {
  Series series(8);
  const auto step = [&](std::size_t count, double phi, double height) {
    return hits(count / 2, [&, count, phi, height] {
      return plus(series.autoregressive(count, phi),
                  [&](std::size_t i) { return i >= count / 2 ? height : 0; });
    });
  };
  EXPECT_GE(step(40, 0, 5), 0.65);
  EXPECT_GE(step(40, 0.5, 20), 0.9);
  EXPECT_GE(step(100, 0, 5), 0.95);
  EXPECT_GE(step(100, 0.5, 10), 0.9);
  EXPECT_GE(step(100, 0.7, 20), 0.9);
  EXPECT_GE(step(300, 0, 3), 0.95);
  EXPECT_GE(step(300, 0.5, 5), 0.9);
  EXPECT_GE(step(20'000, 0, 3), 0.9);  // reduced to blocks
}

TEST(ChangePoints, AreFoundThroughOutliersAndDrift) {
  Series series(9);
  EXPECT_GE(hits(100,
                 [&] {
                   return plus(series.withOutliers(300), [](std::size_t i) {
                     return (i >= 100 ? 5.0 : 0.0) + 3.0 * static_cast<double>(i) / 300;
                   });
                 }),
            0.9);
}

TEST(ChangePoints, OfAPassingSlowdownAreItsBeginAndEnd) {
  Series series(10);
  int right = 0;
  for (int round = 0; round < 100; ++round) {
    const std::vector<std::size_t> places =
        changePoints(plus(series.autoregressive(300, 0.3),
                          [](std::size_t i) { return i >= 100 && i < 160 ? 5 : 0; }));
    right += places.size() == 2 && places[0] >= 98 && places[0] <= 102 && places[1] >= 158 &&
                     places[1] <= 162
                 ? 1
                 : 0;
  }
  EXPECT_GE(right, 90);
}

TEST(LevelChange, IsThatOfMediansWithItsInterval) {
  const LevelChange exact = levelChange({1, 1, 1, 1, 1, 1}, {3, 3, 3, 3, 3, 3});
  EXPECT_EQ(exact.before, 1);
  EXPECT_EQ(exact.after, 3);
  EXPECT_EQ(exact.low, 2);
  EXPECT_EQ(exact.high, 2);
  Series series(11);
  int covered = 0;
  for (int round = 0; round < 400; ++round) {
    const LevelChange change =
        levelChange(series.autoregressive(60, 0.3),
                    plus(series.autoregressive(60, 0.3), [](std::size_t) { return 2; }));
    covered += change.low <= 2 && 2 <= change.high ? 1 : 0;
  }
  EXPECT_GE(covered, 0.9 * 400);
  EXPECT_LE(covered, 0.99 * 400);
}

}  // namespace
}  // namespace sonde::engine::statistics
