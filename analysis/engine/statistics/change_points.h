// Where the level of a series of values changes, and says nothing where it does not: for values
// that depend on their neighbours, have heavy tails and outliers, and drift. Pure functions; any
// thread.
//
// The test is self-normalised, so that it needs no estimate of the noise, and looks at windows of
// several widths to either side of each place, so that one change does not hide another. It is made
// on ranks, which outliers do not move, and on values that lie no farther from the level around
// them than three deviations of the noise: of ranks a step of a hundred deviations is no more than
// one of five. What remains of dependence in short series is allowed for by a limit that grows with
// the correlation of neighbours. A steady drift is taken out before, and
// a place counts only where at least half of the difference between its sides is a jump and no
// slope.
//
// Sources: Z. Zhao, F. Jiang and X. Shao, "Segmenting time series via self-normalisation", J. R.
// Stat. Soc. B 84 (2022), sections 2 and 3; on ranks A. Betken, "Testing for change-points in
// long-range dependent time series by means of a self-normalized Wilcoxon test", J. Time Ser. Anal.
// 37 (2016); the slopes H. Theil's and P. K. Sen's. The limits are found by simulation:
// tests/engine/statistics/change_points_test.cpp has the rates of false alarms that they give.
#pragma once

#include <cstddef>
#include <vector>

namespace sonde::engine::statistics {

// Fewer values have no change points: too little to tell a change from noise. It is also how many
// there are on either side of one, at least; of longer series a twentieth of all.
inline constexpr std::size_t kLeastForChange = 20;
inline constexpr std::size_t kLeastBesideChange = 10;

// The first value after each change, ascending. O(n) in time for long series, of which blocks are
// looked at first. Requires: all values are finite.
std::vector<std::size_t> changePoints(const std::vector<double>& values);

// How much higher the second side is than the first, in medians, with what 95 % of errors stay
// within: by the jackknife of blocks (series.h). Requires: neither is empty.
struct LevelChange {
  double before = 0;
  double after = 0;
  double low = 0;  // of after − before
  double high = 0;
};
LevelChange levelChange(const std::vector<double>& before, const std::vector<double>& after);

}  // namespace sonde::engine::statistics
