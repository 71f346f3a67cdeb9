#include "analysis/engine/statistics/multiple_tests.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace sonde::engine::statistics {

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(), [&p](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double highest = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto left = static_cast<double>(order.size() - place);
    highest = std::max(highest, std::min(1.0, left * p[order[place]]));
    adjusted[order[place]] = highest;
  }
  return adjusted;
}

}  // namespace sonde::engine::statistics
