// Finds where the level of a series changes; returns nothing if it does not. Values may depend on
// their neighbours, have heavy tails and outliers, and drift. Pure functions; any thread.
//
// The test is self-normalised: it needs no estimate of the noise. It looks at windows of several
// widths on both sides of each place, so that one change does not hide another. It uses ranks,
// which outliers do not affect, and clipped values: in ranks a step of a hundred deviations is no
// larger than one of five. Clipping limits values to three deviations of the noise around the local
// level. For short series the limit grows with the correlation of neighbours. A steady drift is
// removed first. A change counts only if at least half of the difference between its sides is a
// jump, not a slope.
//
// Sources: Z. Zhao, F. Jiang and X. Shao, "Segmenting time series via self-normalisation", J. R.
// Stat. Soc. B 84 (2022), sections 2 and 3; on ranks A. Betken, "Testing for change-points in
// long-range dependent time series by means of a self-normalized Wilcoxon test", J. Time Ser. Anal.
// 37 (2016); the slopes H. Theil's and P. K. Sen's. The limits come from simulation:
// tests/engine/statistics/change_points_test.cpp has the resulting rates of false alarms.
#pragma once

#include <cstddef>
#include <vector>

namespace sonde::engine::statistics {

// kLeastForChange: with fewer values changes cannot be told from noise. kLeastBesideChange: values
// on each side of a change, at least; in longer series a twentieth of all.
inline constexpr std::size_t kLeastForChange = 20;
inline constexpr std::size_t kLeastBesideChange = 10;

// The first value after each change, ascending. O(n) for long series, which are reduced to blocks
// first. Requires: all values are finite.
std::vector<std::size_t> changePoints(const std::vector<double>& values);

// The difference of the medians, with an interval that holds 95 % of its errors, by the jackknife
// of blocks (series.h). Requires: neither is empty.
struct LevelChange {
  double before = 0;
  double after = 0;
  double low = 0;  // of after − before
  double high = 0;
};
LevelChange levelChange(const std::vector<double>& before, const std::vector<double>& after);

}  // namespace sonde::engine::statistics
