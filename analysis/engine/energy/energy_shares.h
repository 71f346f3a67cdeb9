// Divides the energy between readings of a meter among what was active. Plain values and pure
// functions.
//
// Between two readings only the sum is known. It is spread evenly over that time; at each instant
// all active spans get equal shares. Time without active spans is idle. The error is bounded: a
// label that alone was active from one reading to the next used all of the energy. A label that was
// active for an instant may have used all of it.
#pragma once

#include "analysis/engine/breakdown/track.h"
#include "analysis/engine/intervals/intervals.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::energy {

struct Reading {
  std::int64_t ns = 0;
  double joules = 0;  // since any start: only differences count
};

struct Share {
  double joules = 0;
  double low = 0;
  double high = 0;
  std::int64_t activeNs = 0;  // while the meter was read: some span of it was active
};

struct EnergyShares {
  metrics::Interval measured{};  // the part of the window from the first reading to the last
  double joules = 0;             // in that part; sum of the shares and idle
  std::vector<Share> shares;     // by label
  Share idle;
  std::size_t readings = 0;    // in the window
  std::int64_t longestNs = 0;  // between two readings
};

// `readings`: ascending. `spans`: in any order; overlapping spans of one label count separately. A
// meter that decreases was restarted: that step counts as zero.
EnergyShares shareEnergy(const std::vector<Reading>& readings,
                         const std::vector<breakdown::Span>& spans,
                         std::size_t labels,
                         metrics::Interval window);

// Converts readings of power in watts to energy; uses the mean of two successive readings.
std::vector<Reading> integrated(const std::vector<Reading>& watts);

}  // namespace sonde::engine::energy
