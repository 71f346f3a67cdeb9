// Fits the clocks of a job's hosts to what bounds them. Plain values; any thread.
//
// 1. A clock's difference to the reference is a line at first. At eight instants, each bound holds
//    with the drift that clocks can still have between the bound and the instant. Bellman and Ford
//    find the range of each clock at each instant, and a line through the centres of the ranges
//    gives the drift. This repeats with an eighth of the remaining drift, until it no longer
//    matters.
// 2. With that drift each bound holds at all times. The centres of the ranges are the offsets.
// 3. If no line satisfies all bounds, the time is divided into pieces, at most 63. The ends of
// their
//    lines are the centres of the ranges there.
#pragma once

#include "analysis/engine/align/difference_constraints.h"
#include "analysis/engine/align/host_bounds.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::align {

// From `fromNs` on, by the host's clock, `offsetNs` + (t − fromNs) × drift leads to the
// reference's.
struct ClockPiece {
  std::int64_t fromNs;
  std::int64_t offsetNs;
  double drift;
};

struct FittedClock {
  enum class Known {
    Nothing,   // no bound connects it with the reference
    OneSide,   // its offset is bounded on one side only
    BothSides  // it is aligned
  };
  Known known = Known::Nothing;
  std::vector<ClockPiece> pieces;         // if aligned; at least one
  std::int64_t errorNs = 0;               // half the range of the offset
  std::int64_t residualNs = 0;            // how much the fit violates its worst bound
  std::optional<std::int64_t> atLeastNs;  // if bounded on one side: the offset's bound
  std::optional<std::int64_t> atMostNs;
};

// Two clocks whose bounds contradict each other whatever their offset and drift.
struct Contradiction {
  HostIndex one;
  HostIndex other;
  std::int64_t byNs;
};

struct FittedClocks {
  std::vector<FittedClock> hosts;
  std::optional<Contradiction> contradiction;  // by more than a millisecond
};

FittedClocks fitClocks(HostBounds& bounds);

}  // namespace sonde::engine::align
