// Whether values of one sample tend to be below those of another: Mann and Whitney's U. It assumes
// no distribution and is robust against outliers. Pure functions; any thread.
//
// Values must be independent. For dependent neighbours in time, use blocks (series.h).
#pragma once

#include <cstddef>
#include <vector>

namespace sonde::engine::statistics {

struct RankTest {
  double superiority = 0.5;  // P(a value of the second > one of the first), + half of P(equal)
  double pLower = 1;         // probability of a rank sum of the first this low, if there is no
                             // difference
  double pHigher = 1;        // … this high
  double p = 1;              // two-sided: twice the smaller, at most 1
  double leastP = 1;   // the smallest p of any split of these values into samples of these sizes
  bool exact = false;  // counts all splits of the values; else the normal approximation
};

// Exact, also with ties, if the number of all values times that of the smaller sample is at most
// kExactWork: always for 40 values or fewer, and for 3 values against 300. One value is
// compared exactly with any number. Else approximate, corrected for ties and continuity. For an
// empty sample every p is 1.
//
// Source: H. B. Mann and D. R. Whitney, Ann. Math. Stat. 18 (1947); the count of all splits with
// ties by B. Streitberg and J. Röhmel, "Exact distributions for permutation and rank tests" (1986).
inline constexpr std::size_t kExactWork = 1000;
RankTest mannWhitney(const std::vector<double>& first, const std::vector<double>& second);

}  // namespace sonde::engine::statistics
