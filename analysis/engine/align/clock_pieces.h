// Lines in pieces, for clocks that do not run evenly. Plain values.
#pragma once

#include "analysis/engine/align/clock_lines.h"
#include "analysis/engine/align/drifting_frame.h"

#include <vector>

namespace sonde::engine::align {

struct ClockPieces {
  ClockLines lines;
  std::vector<double> halfWidths;         // by host, of the widest range
  std::vector<Constraint> contradiction;  // bounds that no pieces can satisfy; empty: none
};

// Lines between knots, at most 64. A knot has the centres of the ranges at its instant. Each new
// knot is where the lines violate a bound most, as in Douglas and Peucker's algorithm.
ClockPieces fitPieces(const DriftingFrame& clocks);

}  // namespace sonde::engine::align
