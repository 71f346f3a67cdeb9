// How clocks run: a line for each, or lines in pieces, in a common frame. Plain values.
#pragma once

#include "analysis/engine/align/common_frame.h"

#include <cstddef>
#include <vector>

namespace sonde::engine::align {

// From `from` on the correction is offset + (at − from) × drift; all in ns of the frame.
struct LinePiece {
  double from;
  double offset;
  double drift;
};

// By host; the pieces in the order of time. Before its first piece a clock follows that piece.
using ClockLines = std::vector<std::vector<LinePiece>>;

double correctionAt(const std::vector<LinePiece>& clock, double at);

struct Violations {
  std::vector<double> worst;  // by host: by how many ns its worst bound is violated; 0: none is
  double most = 0;
  const FramedPair* pair = nullptr;  // that has the worst one; valid as long as the frame
  double at = 0;                     // when that one is
};

Violations violationsOf(const ClockLines& clocks, const CommonFrame& frame);

}  // namespace sonde::engine::align
