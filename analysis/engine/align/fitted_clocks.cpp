#include "analysis/engine/align/fitted_clocks.h"

#include "analysis/engine/align/clock_pieces.h"

#include <cmath>
#include <utility>

namespace sonde::engine::align {
namespace {

constexpr double kContradiction = 1e6;  // ns

class Fitter {
 public:
  explicit Fitter(CommonFrame frame) : clocks_{std::move(frame), {}} {
    clocks_.drifts.assign(hosts(), 0);
  }

  FittedClocks fit() {
    clocks_.findDrifts();
    Ranges ranges = clocks_.rangesAt(0, 0);
    clocks_.dropUnseenDrifts(ranges);
    ClockPieces pieces;
    if (ranges.raisedBy > kAcceptedNs)
      pieces = fitPieces(clocks_);
    else
      fitLines(ranges, pieces);
    return result(ranges, pieces);
  }

 private:
  std::size_t hosts() const noexcept { return clocks_.hosts(); }
  void fitLines(const Ranges& ranges, ClockPieces& pieces) const;
  FittedClocks result(const Ranges& ranges, const ClockPieces& pieces) const;
  FittedClock clockOf(HostIndex host, const Range& range, const std::vector<LinePiece>& line) const;

  DriftingFrame clocks_;
};

void Fitter::fitLines(const Ranges& ranges, ClockPieces& pieces) const {
  pieces.lines.resize(hosts());
  for (HostIndex host = 0; host < hosts(); ++host) {
    const Range& range = ranges.ranges[host];
    if (range.isBounded())
      pieces.lines[host].push_back({0, range.centre(), clocks_.drifts[host]});
    pieces.halfWidths.push_back(range.halfWidth());
  }
}

FittedClock Fitter::clockOf(HostIndex host,
                            const Range& range,
                            const std::vector<LinePiece>& line) const {
  FittedClock clock;
  const std::int64_t shift = clocks_.frame.shiftNs[host];
  for (const LinePiece& piece : line)
    clock.pieces.push_back({clocks_.frame.originNs + std::llround(piece.from) - shift,
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

FittedClocks Fitter::result(const Ranges& ranges, const ClockPieces& pieces) const {
  const Violations violations = violationsOf(pieces.lines, clocks_.frame);
  FittedClocks fits;
  for (HostIndex host = 0; host < hosts(); ++host) {
    FittedClock& clock =
        fits.hosts.emplace_back(clockOf(host, ranges.ranges[host], pieces.lines[host]));
    if (clock.known == FittedClock::Known::BothSides) {
      clock.errorNs = std::llround(pieces.halfWidths[host]);
      clock.residualNs = std::llround(violations.worst[host]);
    }
  }
  if (violations.most <= kContradiction)
    return fits;
  const std::vector<Constraint>& contradiction = pieces.contradiction;
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
