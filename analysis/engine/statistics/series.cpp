#include "analysis/engine/statistics/series.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace sonde::engine::statistics {
namespace {

// Where block `block` of `blocks` begins.
std::ptrdiff_t beginOf(std::size_t block, std::size_t blocks, std::size_t count) {
  return static_cast<std::ptrdiff_t>(block * count / blocks);
}

}  // namespace

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1)
    return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::optional<std::size_t> indexOfMedian(const std::vector<std::int64_t>& values) {
  std::vector<std::pair<std::int64_t, std::size_t>> places;
  places.reserve(values.size());
  for (const std::int64_t value : values)
    places.emplace_back(value, places.size());
  if (places.empty())
    return std::nullopt;
  const auto middle = places.begin() + static_cast<std::ptrdiff_t>(places.size() / 2);
  std::nth_element(places.begin(), middle, places.end());
  return middle->second;
}

double variance(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values)
    sum += (value - middle) * (value - middle);
  return sum / static_cast<double>(values.size() - 1);
}

std::size_t blocksFor(std::size_t count) {
  constexpr std::size_t kMost = 20;
  return std::min({std::max<std::size_t>(count / 3, 2), kMost, count});
}

std::vector<double> blockCentres(const std::vector<double>& values,
                                 std::size_t blocks,
                                 const Centre& centre) {
  std::vector<double> centres;
  centres.reserve(blocks);
  for (std::size_t block = 0; block < blocks; ++block)
    centres.push_back(centre({values.begin() + beginOf(block, blocks, values.size()),
                              values.begin() + beginOf(block + 1, blocks, values.size())}));
  return centres;
}

double blockedError(const std::vector<double>& values, std::size_t blocks, const Centre& centre) {
  if (blocks < 2)
    return 0;
  std::vector<double> without;
  without.reserve(blocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    std::vector<double> rest = values;
    rest.erase(rest.begin() + beginOf(block, blocks, values.size()),
               rest.begin() + beginOf(block + 1, blocks, values.size()));
    without.push_back(centre(rest));
  }
  const auto count = static_cast<double>(blocks);
  return std::sqrt(variance(without) * (count - 1) * (count - 1) / count);
}

}  // namespace sonde::engine::statistics
