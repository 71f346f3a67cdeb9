// Energy between readings of a meter, divided among what was active meanwhile. Plain values and
// pure functions.
//
// From one reading to the next only the sum is known: it is spread evenly over that time, and at
// each instant those that are active then have equal shares. What is active nowhere is idle. How
// far off that may be is bounded: what alone was active from one reading to the next has all of it,
// whatever the power did in between, and what was active for an instant may have had all of it.
#pragma once

#include "analysis/engine/breakdown/track.h"
#include "analysis/engine/intervals/intervals.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::energy {

struct Reading {
  std::int64_t ns = 0;
  double joules = 0;  // since whenever: only differences count
};

struct Share {
  double joules = 0;
  double low = 0;
  double high = 0;
  std::int64_t activeNs = 0;  // while the meter was read: some span of it was active
};

struct EnergyShares {
  metrics::Interval measured{};  // of the window: from the first reading to the last
  double joules = 0;             // there; that of the shares and of idle
  std::vector<Share> shares;     // by label
  Share idle;
  std::size_t readings = 0;    // in the window
  std::int64_t longestNs = 0;  // from one reading to the next
};

// `readings`: ascending. `spans`: in any order; those of one label that overlap are several that
// are active. A meter that goes back has begun anew: that step counts as nothing.
EnergyShares shareEnergy(const std::vector<Reading>& readings,
                         const std::vector<breakdown::Span>& spans,
                         std::size_t labels,
                         metrics::Interval window);

// The readings of a meter of power, in watts, as one of energy: from one to the next the mean of
// both.
std::vector<Reading> integrated(const std::vector<Reading>& watts);

}  // namespace sonde::engine::energy
