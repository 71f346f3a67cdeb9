#include "analysis/engine/statistics/change_points.h"

#include "analysis/engine/statistics/distributions.h"
#include "analysis/engine/statistics/series.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

namespace sonde::engine::statistics {
namespace {

using Values = std::vector<double>;

// Longer series are first averaged over this many blocks: the work is quadratic in windows.
constexpr std::size_t kMostValues = 1000;

Values part(const Values& values, std::size_t begin, std::size_t end) {
  return {values.begin() + static_cast<std::ptrdiff_t>(begin),
          values.begin() + static_cast<std::ptrdiff_t>(end)};
}

// Ranks scaled to −1 … 1; equal values get their mean rank.
Values ranksOf(const Values& values) {
  const std::size_t count = values.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return values[a] < values[b];
  });
  Values ranks(count);
  for (std::size_t at = 0; at < count;) {
    std::size_t end = at;
    while (end < count && values[order[end]] == values[order[at]])
      ++end;
    const double middle = static_cast<double>(at + end - 1) - static_cast<double>(count - 1);
    for (; at < end; ++at)
      ranks[order[at]] = middle / static_cast<double>(count);
  }
  return ranks;
}

// Clips values to three deviations of the noise around the local level, so that single outliers
// count little while a step keeps its height. Centred on 0, at most 1 in size.
Values boundedOf(const Values& values) {
  constexpr std::size_t kAround = 5;
  constexpr double kNormalMad = 1.4826022185056018;
  Values steps;
  for (std::size_t at = 1; at < values.size(); ++at)
    steps.push_back(std::abs(values[at] - values[at - 1]));
  const double reach = 3 * kNormalMad / std::sqrt(2.0) * median(std::move(steps));
  const double middle = median(values);
  Values bounded;
  double most = 0;
  for (std::size_t at = 0; at < values.size(); ++at) {
    const double level =
        median(part(values, at - std::min(at, kAround), std::min(at + kAround + 1, values.size())));
    bounded.push_back(std::clamp(values[at], level - reach, level + reach) - middle);
    most = std::max(most, std::abs(bounded.back()));
  }
  for (double& value : bounded)
    value = most > 0 ? value / most : 0;
  return bounded;
}

// [begin, end) with a change before `at`.
struct Window {
  std::size_t begin = 0;
  std::size_t at = 0;
  std::size_t end = 0;
};

// Computes the statistic of any window in constant time, from prefix sums.
class SelfNormalised {
 public:
  explicit SelfNormalised(const Values& values)
      : sum_(values.size() + 1), ofSums_(sum_), ofSquares_(sum_), weighted_(sum_) {
    for (std::size_t at = 1; at < sum_.size(); ++at) {
      sum_[at] = sum_[at - 1] + values[at - 1];
      ofSums_[at] = ofSums_[at - 1] + sum_[at];
      ofSquares_[at] = ofSquares_[at - 1] + sum_[at] * sum_[at];
      weighted_[at] = weighted_[at - 1] + static_cast<Real>(at) * sum_[at];
    }
  }

  // Zhao, Jiang and Shao's T: D² / V.
  double at(const Window& window) const {
    const auto all = static_cast<Real>(window.end - window.begin);
    const auto left = static_cast<Real>(window.at - window.begin);
    const Real contrast =
        sum_[window.at] - sum_[window.begin] - left / all * (sum_[window.end] - sum_[window.begin]);
    if (std::abs(contrast) < kNothing)
      return 0;
    const Real noise =
        (bridge(window.begin, window.at) + bridge(window.at, window.end)) / (all * all);
    return static_cast<double>(contrast * contrast / all / (noise + kNothing));
  }

 private:
  using Real = long double;  // differences of large sums lose digits
  static constexpr Real kNothing = 1e-9L;

  // The sum of squared differences between the running sum and the straight line to its end.
  Real bridge(std::size_t begin, std::size_t end) const {
    const auto count = static_cast<Real>(end - begin);
    const Real from = sum_[begin];
    const Real slope = (sum_[end] - from) / count;
    const Real sums = ofSums_[end] - ofSums_[begin];
    const Real squares =
        ofSquares_[end] - ofSquares_[begin] - 2 * from * sums + count * from * from;
    const Real weighted = weighted_[end] - weighted_[begin] - static_cast<Real>(begin) * sums -
                          from * count * (count + 1) / 2;
    const Real ofLine = slope * slope * count * (count + 1) * (2 * count + 1) / 6;
    return std::max<Real>(squares - 2 * slope * weighted + ofLine, 0);
  }

  std::vector<Real> sum_;
  std::vector<Real> ofSums_;
  std::vector<Real> ofSquares_;
  std::vector<Real> weighted_;  // times their index
};

// Correlation of neighbours, by ranks, after subtracting the medians of both sides.
double correlationIn(const Values& values, const Window& window) {
  Values rest;
  for (const auto& [begin, end] :
       {std::pair(window.begin, window.at), std::pair(window.at, window.end)}) {
    const Values side = part(values, begin, end);
    const double middle = median(side);
    for (const double value : side)
      rest.push_back(value - middle);
  }
  const Values ranks = ranksOf(rest);
  double squares = 0;
  double products = 0;
  for (std::size_t at = 0; at < ranks.size(); ++at) {
    squares += ranks[at] * ranks[at];
    products += at > 0 ? ranks[at] * ranks[at - 1] : 0;
  }
  return squares > 0 ? products / squares : 0;
}

class Segmentation {
 public:
  explicit Segmentation(const Values& values)
      : values_(values),
        ofRanks_(ranksOf(values)),
        ofValues_(boundedOf(values)),
        beside_(besideOf(values.size())) {
    divide(0, values.size());
  }
  std::vector<std::size_t> take() { return std::move(found_); }

  static std::size_t besideOf(std::size_t count) {
    return std::max(kLeastBesideChange, (count + 19) / 20);
  }

 private:
  void divide(std::size_t begin, std::size_t end) {
    Window best;
    const double value = strongest(begin, end, best);
    if (value <= limit() || value <= limit() * allowance(best))
      return;
    divide(begin, best.at);
    found_.push_back(best.at);
    divide(best.at, end);
  }

  double strongest(std::size_t begin, std::size_t end, Window& best) const {
    double most = 0;
    for (std::size_t at = begin + beside_; at + beside_ <= end; ++at)
      for (std::size_t left = beside_; left <= at - begin; left += beside_)
        for (std::size_t right = beside_; right <= end - at; right += beside_) {
          const Window window{at - left, at, at + right};
          const double value = std::max(ofRanks_.at(window), ofValues_.at(window));
          if (value > most) {
            most = value;
            best = window;
          }
        }
    return most;
  }

  // From simulation: more places and windows give more chance findings.
  double limit() const { return std::min(375.0, 100 + 3 * static_cast<double>(values_.size())); }

  // A factor for values that depend on their neighbours, as far as the window proves it.
  double allowance(const Window& window) const {
    const double error = 1 / std::sqrt(static_cast<double>(window.end - window.begin));
    const double surely = std::clamp(correlationIn(values_, window) + error, 0.0, 0.95);
    return std::pow((1 + surely) / (1 - surely), 0.8);
  }

  const Values& values_;
  SelfNormalised ofRanks_;
  SelfNormalised ofValues_;
  std::size_t beside_;
  std::vector<std::size_t> found_;
};

Values withoutSlope(Values values, double slope) {
  for (std::size_t at = 0; at < values.size(); ++at)
    values[at] -= slope * static_cast<double>(at);
  return values;
}

// From differences over a tenth of the series: few of them cross a change.
double driftOf(const Values& values) {
  const std::size_t lag = std::max<std::size_t>(values.size() / 10, 1);
  Values slopes;
  for (std::size_t at = lag; at < values.size(); ++at)
    slopes.push_back((values[at] - values[at - lag]) / static_cast<double>(lag));
  return median(std::move(slopes));
}

void addSlopes(const Values& values, std::size_t begin, std::size_t end, Values& slopes) {
  for (std::size_t i = begin; i < end; ++i)
    for (std::size_t j = i + 1; j < end; ++j)
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
}

// Whether a slope that both sides share explains less than half of their difference. Looks only at
// values near the change.
bool isJump(const Values& values, Window window) {
  constexpr std::size_t kEnough = 200;
  window.begin = std::max(window.begin, window.at - std::min(window.at, kEnough));
  window.end = std::min(window.end, window.at + kEnough);
  Values slopes;
  addSlopes(values, window.begin, window.at, slopes);
  addSlopes(values, window.at, window.end, slopes);
  const Values flat = withoutSlope(values, slopes.empty() ? 0 : median(std::move(slopes)));
  const auto difference = [&](const Values& of) {
    return median(part(of, window.at, window.end)) - median(part(of, window.begin, window.at));
  };
  const double whole = difference(values);
  const double jump = difference(flat);
  return jump * whole > 0 && std::abs(jump) >= std::abs(whole) / 2;
}

void dropSlopes(const Values& values, std::vector<std::size_t>& places) {
  for (std::size_t i = 0; i < places.size();) {
    const Window window{i == 0 ? 0 : places[i - 1],
                        places[i],
                        i + 1 < places.size() ? places[i + 1] : values.size()};
    if (isJump(values, window)) {
      ++i;
      continue;
    }
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(i));
    i = 0;  // its neighbours now have more values beside them
  }
}

// The division of [begin, end) closest to two levels: those on both sides of `at`.
std::size_t sharpened(const Values& values, const Window& window) {
  const double before = median(part(values, window.begin, window.at));
  const double after = median(part(values, window.at, window.end));
  double gain = 0;
  double most = 0;
  std::size_t best = window.begin;
  for (std::size_t at = window.begin; at < window.end; ++at) {
    gain += std::abs(values[at] - after) - std::abs(values[at] - before);
    if (gain > most) {
      most = gain;
      best = at + 1;
    }
  }
  return best == window.begin || best == window.end ? window.at : best;
}

}  // namespace

std::vector<std::size_t> changePoints(const Values& values) {
  if (values.size() < kLeastForChange)
    return {};
  const std::size_t count = std::min(values.size(), kMostValues);
  const Values blocks = blockCentres(values, count, median);
  std::vector<std::size_t> places = Segmentation(withoutSlope(blocks, driftOf(blocks))).take();
  dropSlopes(blocks, places);
  for (std::size_t& place : places)
    place = place * values.size() / count;
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = sharpened(values,
                          {i == 0 ? 0 : places[i - 1],
                           places[i],
                           i + 1 < places.size() ? places[i + 1] : values.size()});
  return places;
}

LevelChange levelChange(const Values& before, const Values& after) {
  LevelChange change;
  change.before = median(before);
  change.after = median(after);
  const std::size_t blocks = std::min(blocksFor(before.size()), blocksFor(after.size()));
  const double error = std::hypot(blockedError(before, blocksFor(before.size()), median),
                                  blockedError(after, blocksFor(after.size()), median));
  const double reach =
      blocks < 2 ? 0 : error * studentQuantile(0.975, static_cast<double>(blocks - 1));
  change.low = change.after - change.before - reach;
  change.high = change.after - change.before + reach;
  return change;
}

}  // namespace sonde::engine::statistics
