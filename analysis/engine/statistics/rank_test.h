// Whether the values of one sample tend to lie below those of another: Mann and Whitney's U, which
// assumes nothing of their distribution and is not moved by outliers. Pure functions; any thread.
//
// Values count as independent. Of neighbours in time that are not, take blocks (series.h).
#pragma once

#include <vector>

namespace sonde::engine::statistics {

struct RankTest {
  double superiority = 0.5;  // P(a value of the second > one of the first), + half of P(equal)
  double pLower = 1;         // of a rank sum of the first this low, were there no difference
  double pHigher = 1;        // … this high
  double p = 1;              // two-sided: twice the smaller, at most 1
  bool exact = false;        // by counting all splits of the values, else the normal approximation
};

// Exact, also with ties, for up to kExactValues values in all; beyond that with ties and continuity
// corrected. Of an empty sample nothing is known: every p is 1.
//
// Source: H. B. Mann and D. R. Whitney, Ann. Math. Stat. 18 (1947); the count of all splits with
// ties by B. Streitberg and J. Röhmel, "Exact distributions for permutation and rank tests" (1986).
inline constexpr int kExactValues = 40;
RankTest mannWhitney(const std::vector<double>& first, const std::vector<double>& second);

}  // namespace sonde::engine::statistics
