// The ranges of all clocks at one instant, if their drifts are known within a limit. Plain values.
#pragma once

#include "analysis/engine/align/common_frame.h"
#include "analysis/engine/align/difference_constraints.h"

#include <cstddef>
#include <vector>

namespace sonde::engine::align {

// Violations below it are accepted, in ns: more pieces would follow noise.
inline constexpr double kAcceptedNs = 10e3;
// Quartz clocks differ by up to 100 ppm, and a daemon that sets the time slews by at most 500.
inline constexpr double kMostDrift = 500e-6;

struct DriftingFrame {
  CommonFrame frame;
  std::vector<double> drifts;  // by host, as far as known

  std::size_t hosts() const noexcept { return frame.shiftNs.size(); }
  // The ranges of the offsets without the known drifts. From a bound to the instant `at`, two
  // clocks may drift apart by `drift` more than known. With 0 the instant does not matter.
  Ranges rangesAt(double at, double drift) const;
  std::vector<Constraint> constraintsAt(double at, double drift) const;  // one for each pair
  // Finds the drifts: with a fit at eight instants, again and again, for ever less unknown drift.
  void findDrifts();
  // Sets drifts to 0 that move times by less than an eighth of what is known of them. `ranges` are
  // those with and then without these drifts.
  void dropUnseenDrifts(Ranges& ranges);
};

}  // namespace sonde::engine::align
