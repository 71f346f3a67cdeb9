#include "analysis/engine/diff/run_centres.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <vector>

namespace sonde::engine::diff {
namespace {

std::vector<RunCentre> centres(const std::vector<double>& values) {
  std::vector<RunCentre> side;
  for (const double value : values) {
    RunCentre run;
    run.shown = {value, 1e-6};
    side.push_back(run);
  }
  return side;
}

std::size_t keptOfFirst(const std::vector<double>& first, const std::vector<double>& second) {
  auto a = centres(first);
  auto b = centres(second);
  dropDisturbed(a, b);
  return a.size();
}

TEST(DropDisturbed, TakesOutWhatIsFarFromBothSides) {
  const std::vector<double> calm = {1, 1.002, 0.998, 1.001, 0.999};
  EXPECT_EQ(keptOfFirst(calm, calm), 5U);
  EXPECT_EQ(keptOfFirst({1, 1.002, 0.998, 1.001, 1.7}, calm), 4U);
  EXPECT_EQ(keptOfFirst({1, 1.002, 0.998, 1.5, 1.7}, calm), 3U);
  EXPECT_EQ(keptOfFirst({1, 1.7, 1.002}, calm), 3U) << "three are too few to leave one out";
  EXPECT_EQ(keptOfFirst({1.7, 1.702, 1.698, 1.701, 1.001}, calm), 5U)
      << "runs as those of the other side";
}

TEST(RunCentres, NoRunIsSurerThanTheMiddleOne) {
  auto a = centres({1, 1, 1});
  auto b = centres({1, 1});
  const std::vector<double> variances = {1, 2, 3, 4, 5};
  for (std::size_t i = 0; i < 3; ++i)
    a[i].shown.variance = variances[i];
  b[0].shown.variance = variances[3];
  b[1].shown.variance = variances[4];
  moderate(a, b);
  EXPECT_EQ(a[0].shown.variance, 3);
  EXPECT_EQ(a[2].shown.variance, 3);
  EXPECT_EQ(b[1].shown.variance, 5);
}

TEST(RunCentres, MeasuresAreWhatTheirNamesSay) {
  std::vector<double> run(20);
  std::iota(run.begin(), run.end(), 1);  // 1 … 20
  const auto shown = [&run](Measure measure) {
    return centresOf({run}, measure, 1).front().shown.value;
  };
  EXPECT_DOUBLE_EQ(shown(Measure::Typical), 10.5);
  EXPECT_DOUBLE_EQ(shown(Measure::Fast), 2.5);  // the median of 1, 2, 3, 4
  EXPECT_DOUBLE_EQ(shown(Measure::Mean), 10.5);
}

}  // namespace
}  // namespace sonde::engine::diff
