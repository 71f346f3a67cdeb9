#include "analysis/engine/align/fitted_clocks.h"

#include "analysis/engine/align/clock_lines.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::engine::align {
namespace {

// Quartz clocks differ by up to 100 ppm, and a daemon that sets the time slews by at most 500.
constexpr double kMostDrift = 500e-6;
constexpr int kInstants = 8;
constexpr double kStep = 8;         // by how much the remaining drift shrinks in a round
constexpr double kNegligible = 50;  // ns: what remaining drift may move a time by
constexpr double kAccepted = 10e3;  // ns: pieces would follow noise below that
constexpr double kContradiction = 1e6;
constexpr double kShown = 8;  // drift that moves times by less than 1/8 of the range is not shown
constexpr int kMostPieces = 32;

using RangesOverTime = std::vector<std::pair<double, Ranges>>;  // by instant

class Fitter {
 public:
  explicit Fitter(CommonFrame frame) : frame_(std::move(frame)), drifts_(hosts(), 0) {}

  FittedClocks fit() {
    findDrifts();
    Ranges ranges = rangesAt(0, 0);
    dropUnseenDrifts(ranges);
    ClockLines lines = linesOf(ranges);
    std::vector<double> halfWidths;
    for (const Range& range : ranges.ranges)
      halfWidths.push_back(range.halfWidth());
    std::vector<Constraint> contradiction;
    if (ranges.raisedBy > kAccepted)
      contradiction = fitPieces(lines, halfWidths);
    return result(ranges, lines, halfWidths, contradiction);
  }

 private:
  std::size_t hosts() const { return frame_.shiftNs.size(); }
  Ranges rangesAt(double at, double drift) const;
  RangesOverTime rangesAtInstants(const std::vector<double>& instants, double drift) const;
  void findDrifts();
  void dropUnseenDrifts(Ranges& ranges);
  ClockLines linesOf(const Ranges& ranges) const;
  RangesOverTime rangesAtKnots(int pieces) const;
  std::vector<Constraint> fitPieces(ClockLines& lines, std::vector<double>& halfWidths) const;
  ClockLines piecesThrough(const RangesOverTime& knots) const;
  FittedClocks result(const Ranges& ranges,
                      const ClockLines& lines,
                      const std::vector<double>& halfWidths,
                      const std::vector<Constraint>& contradiction) const;
  FittedClock clockOf(HostIndex host, const Range& range, const std::vector<LinePiece>& line) const;

  CommonFrame frame_;
  std::vector<double> drifts_;  // by host
};

// The ranges of the offsets at the origin, without the known drifts. Two clocks may drift apart by
// `drift` from a bound to the instant `at`.
Ranges Fitter::rangesAt(double at, double drift) const {
  std::vector<Constraint> constraints;
  constraints.reserve(frame_.pairs.size());
  for (const FramedPair& pair : frame_.pairs) {
    const double tilt = drifts_[pair.from] - drifts_[pair.to];
    double limit = std::numeric_limits<double>::infinity();
    for (const FramedBound& bound : pair.bounds)
      limit = std::min(limit, bound.apart - tilt * bound.at + drift * std::abs(at - bound.at));
    constraints.push_back({pair.from, pair.to, limit});
  }
  return solve(hosts(), constraints);
}

RangesOverTime Fitter::rangesAtInstants(const std::vector<double>& instants, double drift) const {
  RangesOverTime found;
  for (const double at : instants)
    found.emplace_back(at, rangesAt(at, drift));
  return found;
}

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

void Fitter::findDrifts() {
  std::vector<double> instants;
  for (int each = 0; each < kInstants; ++each)
    instants.push_back(frame_.halfSpan * ((2.0 * each + 1) / kInstants - 1));
  for (double drift = kMostDrift; drift * frame_.halfSpan > kNegligible; drift /= kStep) {
    const RangesOverTime ranges = rangesAtInstants(instants, drift);
    if (!areFeasible(ranges))
      return;
    for (HostIndex host = 1; host < hosts(); ++host)
      if (ranges.front().second.ranges[host].isBounded())
        drifts_[host] += slopeOf(ranges, host);
  }
}

void Fitter::dropUnseenDrifts(Ranges& ranges) {
  const std::vector<double> found = drifts_;
  for (HostIndex host = 1; host < hosts(); ++host)
    if (std::abs(drifts_[host]) * frame_.halfSpan < ranges.ranges[host].halfWidth() / kShown)
      drifts_[host] = 0;
  Ranges without = rangesAt(0, 0);
  if (without.raisedBy <= ranges.raisedBy)
    ranges = std::move(without);
  else
    drifts_ = found;
}

ClockLines Fitter::linesOf(const Ranges& ranges) const {
  ClockLines lines(hosts());
  for (HostIndex host = 0; host < hosts(); ++host)
    if (ranges.ranges[host].isBounded())
      lines[host].push_back({0, ranges.ranges[host].centre(), drifts_[host]});
  return lines;
}

// With the least drift inside the pieces that the bounds allow.
RangesOverTime Fitter::rangesAtKnots(int pieces) const {
  std::vector<double> knots;
  for (int each = 0; each <= pieces; ++each)
    knots.push_back(frame_.halfSpan * (2.0 * each / pieces - 1));
  for (double drift = kMostDrift / (kStep * kStep * kStep);; drift *= kStep) {
    RangesOverTime ranges = rangesAtInstants(knots, drift);
    if (drift >= kMostDrift || areFeasible(ranges))
      return ranges;
  }
}

ClockLines Fitter::piecesThrough(const RangesOverTime& knots) const {
  ClockLines lines(hosts());
  for (HostIndex host = 0; host < hosts(); ++host)
    for (std::size_t at = 0; at + 1 < knots.size(); ++at) {
      const auto& [from, here] = knots[at];
      const auto& [until, next] = knots[at + 1];
      if (!here.ranges[host].isBounded())
        continue;
      const double offset = here.ranges[host].centre();
      const double slope = (next.ranges[host].centre() - offset) / (until - from);
      lines[host].push_back({from, offset + drifts_[host] * from, drifts_[host] + slope});
    }
  return lines;
}

// Takes the fewest pieces that satisfy the bounds, else those that violate them least. Returns the
// bounds that contradict each other for any pieces.
std::vector<Constraint> Fitter::fitPieces(ClockLines& lines,
                                          std::vector<double>& halfWidths) const {
  double least = violationsOf(lines, frame_).most;
  std::vector<Constraint> contradiction;
  for (int pieces = 2; pieces <= kMostPieces && least > kAccepted; pieces *= 2) {
    const RangesOverTime knots = rangesAtKnots(pieces);
    ClockLines candidate = piecesThrough(knots);
    const double most = violationsOf(candidate, frame_).most;
    if (most >= least)
      continue;
    least = most;
    lines = std::move(candidate);
    double raisedBy = 0;
    contradiction.clear();
    std::fill(halfWidths.begin(), halfWidths.end(), 0);
    for (const auto& [at, solved] : knots) {
      for (std::size_t host = 0; host < hosts(); ++host)
        halfWidths[host] = std::max(halfWidths[host], solved.ranges[host].halfWidth());
      if (solved.raisedBy > raisedBy)
        contradiction = solved.contradiction;
      raisedBy = std::max(raisedBy, solved.raisedBy);
    }
  }
  return contradiction;
}

FittedClock Fitter::clockOf(HostIndex host,
                            const Range& range,
                            const std::vector<LinePiece>& line) const {
  FittedClock clock;
  const std::int64_t shift = frame_.shiftNs[host];
  for (const LinePiece& piece : line)
    clock.pieces.push_back({frame_.originNs + std::llround(piece.from) - shift,
                            shift + std::llround(piece.offset),
                            piece.drift});
  if (!clock.pieces.empty()) {
    clock.known = FittedClock::Known::BothSides;
    return clock;
  }
  if (std::isfinite(range.lowest))
    clock.atLeastNs = shift + std::llround(range.lowest);
  if (std::isfinite(range.highest))
    clock.atMostNs = shift + std::llround(range.highest);
  if (clock.atLeastNs || clock.atMostNs)
    clock.known = FittedClock::Known::OneSide;
  return clock;
}

FittedClocks Fitter::result(const Ranges& ranges,
                            const ClockLines& lines,
                            const std::vector<double>& halfWidths,
                            const std::vector<Constraint>& contradiction) const {
  const Violations violations = violationsOf(lines, frame_);
  FittedClocks fits;
  for (HostIndex host = 0; host < hosts(); ++host) {
    FittedClock& clock = fits.hosts.emplace_back(clockOf(host, ranges.ranges[host], lines[host]));
    if (clock.known == FittedClock::Known::BothSides) {
      clock.errorNs = std::llround(halfWidths[host]);
      clock.residualNs = std::llround(violations.worst[host]);
    }
  }
  if (violations.most <= kContradiction)
    return fits;
  double sum = 0;
  for (const Constraint& each : contradiction)
    sum += each.limit;
  fits.contradiction =
      contradiction.empty()
          ? Contradiction{violations.pair->from, violations.pair->to, std::llround(violations.most)}
          : Contradiction{contradiction[0].one, contradiction[0].other, std::llround(-sum)};
  return fits;
}

}  // namespace

FittedClocks fitClocks(HostBounds& bounds) {
  return Fitter(frameOf(bounds.hosts(), bounds.pairs())).fit();
}

}  // namespace sonde::engine::align
