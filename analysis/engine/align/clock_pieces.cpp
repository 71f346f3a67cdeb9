#include "analysis/engine/align/clock_pieces.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace sonde::engine::align {
namespace {

constexpr std::size_t kMostKnots = 64;
constexpr double kClosest = 1e-4;  // knots, as a share of the time

using Knots = std::map<double, Ranges>;  // by instant

ClockLines linesThrough(const Knots& knots, const DriftingFrame& clocks) {
  ClockLines lines(clocks.hosts());
  for (auto knot = knots.begin(); std::next(knot) != knots.end(); ++knot) {
    const auto& [from, here] = *knot;
    const auto& [until, next] = *std::next(knot);
    for (std::size_t host = 0; host < clocks.hosts(); ++host) {
      if (!here.ranges[host].isBounded())
        continue;
      const double drift = clocks.drifts[host];
      const double offset = here.ranges[host].centre();
      const double slope = (next.ranges[host].centre() - offset) / (until - from);
      lines[host].push_back({from, offset + drift * from, drift + slope});
    }
  }
  return lines;
}

bool isNear(const Knots& knots, double at, double distance) {
  const auto next = knots.lower_bound(at - distance);
  return next != knots.end() && next->first <= at + distance;
}

ClockPieces describe(const Knots& knots, ClockLines lines, std::size_t hosts) {
  ClockPieces pieces{std::move(lines), std::vector<double>(hosts, 0), {}};
  double raisedBy = 0;
  for (const auto& [at, solved] : knots) {
    for (std::size_t host = 0; host < hosts; ++host)
      pieces.halfWidths[host] = std::max(pieces.halfWidths[host], solved.ranges[host].halfWidth());
    if (solved.raisedBy > raisedBy)
      pieces.contradiction = solved.contradiction;
    raisedBy = std::max(raisedBy, solved.raisedBy);
  }
  return pieces;
}

}  // namespace

ClockPieces fitPieces(const DriftingFrame& clocks) {
  const double halfSpan = clocks.frame.halfSpan;
  ClockPieces best;
  double least = std::numeric_limits<double>::infinity();
  // The drift that is not known: a small one averages more bounds, a large one follows any clock.
  for (const double drift : {kMostDrift / 512, kMostDrift / 64, kMostDrift / 8, kMostDrift}) {
    Knots knots;
    for (const double at : {-halfSpan, halfSpan})
      knots.emplace(at, clocks.rangesAt(at, drift));
    while (least > kAcceptedNs) {
      ClockLines lines = linesThrough(knots, clocks);
      const Violations violations = violationsOf(lines, clocks.frame);
      if (violations.most < least) {
        least = violations.most;
        best = describe(knots, std::move(lines), clocks.hosts());
      }
      if (knots.size() == kMostKnots || isNear(knots, violations.at, 2 * kClosest * halfSpan))
        break;
      knots.emplace(violations.at, clocks.rangesAt(violations.at, drift));
    }
  }
  return best;
}

}  // namespace sonde::engine::align
