#include "analysis/engine/align/drifting_frame.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sonde::engine::align {
namespace {

constexpr int kInstants = 8;
constexpr double kStep = 8;         // by how much the unknown drift shrinks in a round
constexpr double kNegligible = 50;  // ns: what unknown drift may move a time by
constexpr double kShown = 8;  // drift that moves times by less than 1/8 of the range is unseen

using RangesOverTime = std::vector<std::pair<double, Ranges>>;  // by instant

bool areFeasible(const RangesOverTime& ranges) {
  return std::all_of(
      ranges.begin(), ranges.end(), [](const auto& each) { return each.second.raisedBy == 0; });
}

// The slope of a line through the centres of a host's ranges. Narrow ranges weigh more.
double slopeOf(const RangesOverTime& ranges, HostIndex host) {
  double weights = 0;
  double meanAt = 0;
  double meanCentre = 0;
  const auto weightOf = [](const Range& range) {
    const double width = std::max(range.halfWidth(), 1.0);
    return 1 / (width * width);
  };
  for (const auto& [at, solved] : ranges) {
    const Range& range = solved.ranges[host];
    weights += weightOf(range);
    meanAt += weightOf(range) * at;
    meanCentre += weightOf(range) * range.centre();
  }
  meanAt /= weights;
  meanCentre /= weights;
  double product = 0;
  double square = 0;
  for (const auto& [at, solved] : ranges) {
    const Range& range = solved.ranges[host];
    product += weightOf(range) * (at - meanAt) * (range.centre() - meanCentre);
    square += weightOf(range) * (at - meanAt) * (at - meanAt);
  }
  return product / square;
}

}  // namespace

Ranges DriftingFrame::rangesAt(double at, double drift) const {
  std::vector<Constraint> constraints;
  constraints.reserve(frame.pairs.size());
  for (const FramedPair& pair : frame.pairs) {
    const double tilt = drifts[pair.from] - drifts[pair.to];
    double limit = std::numeric_limits<double>::infinity();
    for (const FramedBound& bound : pair.bounds)
      limit = std::min(limit, bound.apart - tilt * bound.at + drift * std::abs(at - bound.at));
    constraints.push_back({pair.from, pair.to, limit});
  }
  return solve(hosts(), constraints);
}

void DriftingFrame::findDrifts() {
  std::vector<double> instants;
  for (int each = 0; each < kInstants; ++each)
    instants.push_back(frame.halfSpan * ((2.0 * each + 1) / kInstants - 1));
  for (double drift = kMostDrift; drift * frame.halfSpan > kNegligible; drift /= kStep) {
    RangesOverTime ranges;
    for (const double at : instants)
      ranges.emplace_back(at, rangesAt(at, drift));
    if (!areFeasible(ranges))
      return;
    for (HostIndex host = 1; host < hosts(); ++host)
      if (ranges.front().second.ranges[host].isBounded())
        drifts[host] += slopeOf(ranges, host);
  }
}

void DriftingFrame::dropUnseenDrifts(Ranges& ranges) {
  const std::vector<double> found = drifts;
  for (HostIndex host = 1; host < hosts(); ++host)
    if (std::abs(drifts[host]) * frame.halfSpan < ranges.ranges[host].halfWidth() / kShown)
      drifts[host] = 0;
  Ranges without = rangesAt(0, 0);
  if (without.raisedBy <= ranges.raisedBy)
    ranges = std::move(without);
  else
    drifts = found;
}

}  // namespace sonde::engine::align
