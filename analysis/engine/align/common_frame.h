// Puts the bounds of all hosts on roughly one clock, so that small floating-point numbers describe
// them exactly. Plain values; any thread.
#pragma once

#include "analysis/engine/align/host_bounds.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::align {

// A bound at `at`, in ns from the frame's origin: the clock of `from` is at most `apart` ns behind
// that of `to`, after both have been shifted.
struct FramedBound {
  double at;
  double apart;
};

struct FramedPair {
  HostIndex from;
  HostIndex to;
  std::vector<FramedBound> bounds;  // not empty
};

struct CommonFrame {
  std::int64_t originNs = 0;          // in the middle of all bounds, by the reference's clock
  double halfSpan = 0;                // ns from the origin to the first and the last bound
  std::vector<std::int64_t> shiftNs;  // by host: leads from its clock to roughly the reference's
  std::vector<FramedPair> pairs;      // of hosts that some way of pairs connects with the reference
};

CommonFrame frameOf(std::size_t hosts, const std::vector<HostBounds::PairBounds>& pairs);

}  // namespace sonde::engine::align
