#include "analysis/engine/align/drifting_frame.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
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

// By host: half the range of its difference to the host that is known best. Hosts without messages
// in both directions have the half range to the reference.
std::vector<double> closestHalfRanges(const std::vector<Constraint>& constraints,
                                      const Ranges& ranges) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> limits;
  for (const Constraint& each : constraints)
    limits[{each.one, each.other}] = each.limit;
  std::vector<double> closest;
  for (const Range& range : ranges.ranges)
    closest.push_back(range.halfWidth());
  for (const auto& [pair, limit] : limits)
    if (const auto back = limits.find({pair.second, pair.first}); back != limits.end()) {
      const double half = (limit + back->second) / 2;
      closest[pair.first] = std::min(closest[pair.first], half);
      closest[pair.second] = std::min(closest[pair.second], half);
    }
  return closest;
}

}  // namespace

std::vector<Constraint> DriftingFrame::constraintsAt(double at, double drift) const {
  std::vector<Constraint> constraints;
  constraints.reserve(frame.pairs.size());
  for (const FramedPair& pair : frame.pairs) {
    const double tilt = drifts[pair.from] - drifts[pair.to];
    double limit = std::numeric_limits<double>::infinity();
    for (const FramedBound& bound : pair.bounds)
      limit = std::min(limit, bound.apart - tilt * bound.at + drift * std::abs(at - bound.at));
    constraints.push_back({pair.from, pair.to, limit});
  }
  return constraints;
}

Ranges DriftingFrame::rangesAt(double at, double drift) const {
  return solve(hosts(), constraintsAt(at, drift));
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
  const std::vector<double> known = closestHalfRanges(constraintsAt(0, 0), ranges);
  for (HostIndex host = 1; host < hosts(); ++host)
    if (std::abs(drifts[host]) * frame.halfSpan < known[host] / kShown)
      drifts[host] = 0;
  Ranges without = rangesAt(0, 0);
  if (without.raisedBy <= ranges.raisedBy)
    ranges = std::move(without);
  else
    drifts = found;
}

}  // namespace sonde::engine::align
