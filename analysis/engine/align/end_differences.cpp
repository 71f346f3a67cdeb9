#include "analysis/engine/align/end_differences.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::engine::align {
namespace {

constexpr std::size_t kMostKept = 4096;
constexpr std::size_t kMostGroups = 32;
constexpr std::size_t kGroupSize = 8;
constexpr double kLeastSpreadNs = 1000;

double medianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1)
    return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Relative to the first difference, so that doubles are exact.
struct Point {
  double at;
  double later;
};

std::vector<Point> pointsOf(const std::vector<EndDifference>& differences) {
  std::vector<Point> points;
  points.reserve(differences.size());
  for (const EndDifference& each : differences)
    points.push_back({static_cast<double>(each.oneNs - differences.front().oneNs),
                      static_cast<double>(each.laterNs - differences.front().laterNs)});
  return points;
}

// The median in each of `groups` groups, of the differences without `slope`.
std::vector<Point> mediansOf(const std::vector<Point>& points, std::size_t groups, double slope) {
  std::vector<Point> medians;
  for (std::size_t group = 0; group < groups; ++group) {
    std::vector<double> at;
    std::vector<double> later;
    const std::size_t end = (group + 1) * points.size() / groups;
    for (std::size_t each = group * points.size() / groups; each < end; ++each) {
      at.push_back(points[each].at);
      later.push_back(points[each].later - slope * points[each].at);
    }
    medians.push_back({medianOf(std::move(at)), medianOf(std::move(later))});
  }
  return medians;
}

double slopeOf(const std::vector<Point>& medians) {
  std::vector<double> slopes;
  for (std::size_t left = 0; left < medians.size(); ++left)
    for (std::size_t right = left + 1; right < medians.size(); ++right)
      if (medians[right].at > medians[left].at)
        slopes.push_back((medians[right].later - medians[left].later) /
                         (medians[right].at - medians[left].at));
  return slopes.empty() ? 0 : medianOf(std::move(slopes));
}

double spreadOf(const std::vector<Point>& points, double slope) {
  std::vector<double> rest;
  for (const Point& point : points)
    rest.push_back(point.later - slope * point.at);
  const double middle = medianOf(rest);
  for (double& each : rest)
    each = std::abs(each - middle);
  return std::max(kLeastSpreadNs, medianOf(std::move(rest)));
}

}  // namespace

void EndDifferences::add(const EndDifference& difference) {
  if (seen_++ % every_ != 0)
    return;
  kept_.push_back(difference);
  if (kept_.size() < kMostKept)
    return;
  for (std::size_t each = 0; 2 * each < kept_.size(); ++each)
    kept_[each] = kept_[2 * each];
  kept_.resize(kept_.size() / 2);
  every_ *= 2;
}

std::vector<EndEstimate> EndDifferences::estimates() const {
  if (kept_.empty())
    return {};
  std::vector<EndDifference> differences = kept_;
  std::sort(differences.begin(), differences.end(), [](const auto& a, const auto& b) {
    return a.oneNs < b.oneNs;
  });
  const std::vector<Point> points = pointsOf(differences);
  const std::size_t groups = std::clamp<std::size_t>(points.size() / kGroupSize, 1, kMostGroups);
  const double slope = slopeOf(mediansOf(points, groups, 0));
  const double spread = spreadOf(points, slope);
  std::vector<EndEstimate> estimates;
  for (const Point& median : mediansOf(points, groups, slope))
    estimates.push_back(
        {differences.front().oneNs + std::llround(median.at),
         differences.front().laterNs + std::llround(median.later + slope * median.at),
         std::llround(spread)});
  return estimates;
}

}  // namespace sonde::engine::align
