#include "analysis/engine/align/clock_lines.h"

#include <algorithm>
#include <iterator>

namespace sonde::engine::align {

double correctionAt(const std::vector<LinePiece>& clock, double at) {
  const auto after = std::partition_point(
      clock.begin(), clock.end(), [&](const LinePiece& piece) { return piece.from <= at; });
  const LinePiece& piece = after == clock.begin() ? *after : *std::prev(after);
  return piece.offset + (at - piece.from) * piece.drift;
}

Violations violationsOf(const ClockLines& clocks, const CommonFrame& frame) {
  Violations found;
  found.worst.resize(clocks.size());
  for (const FramedPair& pair : frame.pairs) {
    if (clocks[pair.from].empty() || clocks[pair.to].empty())
      continue;
    double worst = 0;
    double worstAt = 0;
    for (const FramedBound& bound : pair.bounds) {
      const double violation = correctionAt(clocks[pair.from], bound.at) -
                               correctionAt(clocks[pair.to], bound.at) - bound.apart;
      if (violation > worst) {
        worst = violation;
        worstAt = bound.at;
      }
    }
    found.worst[pair.from] = std::max(found.worst[pair.from], worst);
    found.worst[pair.to] = std::max(found.worst[pair.to], worst);
    if (worst > found.most) {
      found.most = worst;
      found.pair = &pair;
      found.at = worstAt;
    }
  }
  return found;
}

}  // namespace sonde::engine::align
