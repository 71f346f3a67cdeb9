#include "analysis/engine/diff/run_centres.h"

#include "analysis/engine/statistics/distributions.h"
#include "analysis/engine/statistics/series.h"
#include "analysis/engine/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::engine::diff {
namespace {

// The least error of a run, as a share: smaller ones come from clocks and rounding.
constexpr double kLeastError = 1e-4;
// Runs this many deviations from the middle are far. In a normal distribution that is one run in a
// billion. With the few runs that estimate the deviation it is still rare.
constexpr double kFar = 6;
constexpr std::size_t kLeastRuns = 3;
constexpr double kLeastShareOfRuns = 0.6;

double medianOf(const std::vector<double>& values) {
  return metrics::median(values);
}

double fastOf(const std::vector<double>& values) {
  std::vector<double> fastest = values;
  const auto count = static_cast<std::ptrdiff_t>(std::max<std::size_t>((values.size() + 2) / 5, 1));
  std::nth_element(fastest.begin(), fastest.begin() + (count - 1), fastest.end());
  fastest.erase(fastest.begin() + count, fastest.end());
  return metrics::median(std::move(fastest));
}

statistics::Centre centreOf(Measure measure) {
  switch (measure) {
    case Measure::Typical:
      return medianOf;
    case Measure::Fast:
      return fastOf;
    case Measure::Mean:
      break;
  }
  return statistics::mean;
}

double middleOf(const std::vector<RunCentre>& side) {
  std::vector<double> values;
  values.reserve(side.size());
  for (const RunCentre& run : side)
    values.push_back(run.shown.value);
  return metrics::median(std::move(values));
}

// The deviation between runs, from the middle half of both sides, so that disturbed runs do not
// hide each other. Each side's own median takes a degree of freedom.
double robustDeviation(const std::vector<RunCentre>& a, const std::vector<RunCentre>& b) {
  std::vector<double> distances;
  distances.reserve(a.size() + b.size());
  for (const auto* side : {&a, &b}) {
    const double middle = middleOf(*side);
    for (const RunCentre& run : *side)
      distances.push_back(std::abs(run.shown.value - middle));
  }
  const auto count = static_cast<double>(distances.size());
  const double perMedian = 1 / statistics::normalQuantile(0.75);
  return perMedian * metrics::median(std::move(distances)) *
         std::sqrt(count / std::max(1.0, count - 2));
}

void drop(std::vector<RunCentre>& side, double own, double other, double far) {
  const auto share =
      static_cast<std::size_t>(std::ceil(kLeastShareOfRuns * static_cast<double>(side.size())));
  const std::size_t least = std::max(kLeastRuns, share);
  std::stable_sort(side.begin(), side.end(), [own](const RunCentre& one, const RunCentre& another) {
    return std::abs(one.shown.value - own) < std::abs(another.shown.value - own);
  });
  while (side.size() > least && std::abs(side.back().shown.value - own) > far &&
         std::abs(side.back().shown.value - other) > far)
    side.pop_back();
}

}  // namespace

std::vector<RunCentre> centresOf(const Observations& runs, Measure measure, double scale) {
  const statistics::Centre centre = centreOf(measure);
  std::vector<RunCentre> centres;
  centres.reserve(runs.size());
  for (const std::vector<double>& run : runs) {
    RunCentre& own = centres.emplace_back();
    own.run = centres.size() - 1;
    own.blocks = statistics::blocksFor(run.size());
    const double error = statistics::blockedError(run, own.blocks, centre) / scale;
    own.shown = {centre(run) / scale, std::max(error * error, kLeastError * kLeastError)};
    if (own.blocks > 1)
      own.varianceOfBlocks =
          statistics::variance(statistics::blockCentres(run, own.blocks, centre)) / scale / scale;
  }
  return centres;
}

double scaleOf(const Observations& a, const Observations& b, Measure measure) {
  const statistics::Centre centre = centreOf(measure);
  const auto middle = [&centre](const Observations& runs) {
    std::vector<double> centres;
    centres.reserve(runs.size());
    for (const std::vector<double>& run : runs)
      centres.push_back(centre(run));
    const double median = metrics::median(centres);
    return median > 0 ? median : statistics::mean(centres);
  };
  return (middle(a) + middle(b)) / 2;
}

void moderate(std::vector<RunCentre>& a, std::vector<RunCentre>& b) {
  std::vector<double> variances;
  variances.reserve(a.size() + b.size());
  for (const auto* side : {&a, &b})
    for (const RunCentre& run : *side)
      variances.push_back(run.shown.variance);
  const double least = metrics::median(std::move(variances));
  for (auto* side : {&a, &b})
    for (RunCentre& run : *side)
      run.shown.variance = std::max(run.shown.variance, least);
}

void dropDisturbed(std::vector<RunCentre>& a, std::vector<RunCentre>& b) {
  const double far = kFar * robustDeviation(a, b);
  const double middleOfA = middleOf(a);
  const double middleOfB = middleOf(b);
  drop(a, middleOfA, middleOfB, far);
  drop(b, middleOfB, middleOfA, far);
}

}  // namespace sonde::engine::diff
