#include "rules/builtin/trend.h"

#include <algorithm>

namespace sonde::rules {

Growth growthOf(const std::vector<double>& values) {
  std::vector<double> lows;
  for (std::size_t block = 0; block < kGrowthBlocks; ++block) {
    const auto begin =
        values.begin() + static_cast<std::ptrdiff_t>(block * values.size() / kGrowthBlocks);
    const auto end =
        values.begin() + static_cast<std::ptrdiff_t>((block + 1) * values.size() / kGrowthBlocks);
    lows.push_back(*std::min_element(begin, end));
  }
  int sum = 0;
  int pairs = 0;
  for (std::size_t i = 0; i < lows.size(); ++i)
    for (std::size_t j = i + 1; j < lows.size(); ++j) {
      sum += lows[j] > lows[i] ? 1 : lows[j] < lows[i] ? -1 : 0;
      ++pairs;
    }
  return {lows.front(), lows.back(), static_cast<double>(sum) / pairs};
}

}  // namespace sonde::rules
