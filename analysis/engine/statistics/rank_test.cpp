#include "analysis/engine/statistics/rank_test.h"

#include "analysis/engine/statistics/distributions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sonde::engine::statistics {
namespace {

// The values of both samples in ascending order, with twice the rank of each and its sample. Equal
// values share the middle rank; doubled, it stays whole.
struct Ranked {
  std::vector<std::int64_t> twice;
  std::int64_t twiceSumOfFirst = 0;
  double ties = 0;  // the sum of t³ − t over the groups of t equal values
};

Ranked ranksOf(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<std::pair<double, bool>> all;  // value, whether it is of `first`
  all.reserve(first.size() + second.size());
  for (const double value : first)
    all.emplace_back(value, true);
  for (const double value : second)
    all.emplace_back(value, false);
  std::sort(all.begin(), all.end());
  Ranked ranked;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].first == all[begin].first)
      ++end;
    const auto twice = static_cast<std::int64_t>(begin + end + 1);  // ranks count from 1
    const auto size = static_cast<double>(end - begin);
    ranked.ties += size * size * size - size;
    for (; begin < end; ++begin) {
      ranked.twice.push_back(twice);
      ranked.twiceSumOfFirst += all[begin].second ? twice : 0;
    }
  }
  return ranked;
}

// The number of ways to choose `chosen` of the ranks for each sum, by dynamic programming over the
// ranks.
std::vector<double> waysBySum(const std::vector<std::int64_t>& ranks, std::size_t chosen) {
  std::int64_t most = 0;  // the largest ranks are last
  for (std::size_t i = 0; i < chosen; ++i)
    most += ranks[ranks.size() - 1 - i];
  const auto sums = static_cast<std::size_t>(most) + 1;
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(sums, 0));
  ways[0][0] = 1;
  for (const std::int64_t rank : ranks) {
    const auto shift = static_cast<std::size_t>(rank);
    for (std::size_t count = chosen; count > 0; --count)
      for (std::size_t sum = sums; sum-- > shift;)
        ways[count][sum] += ways[count - 1][sum - shift];
  }
  return std::move(ways[chosen]);
}

void countSplits(const Ranked& ranked, std::size_t chosen, RankTest& into) {
  const std::vector<double> ways = waysBySum(ranked.twice, chosen);
  const auto seen = static_cast<std::size_t>(ranked.twiceSumOfFirst);
  double all = 0;
  double atMost = 0;
  double atLeast = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    all += ways[sum];
    atMost += sum <= seen ? ways[sum] : 0;
    atLeast += sum >= seen ? ways[sum] : 0;
  }
  into.pLower = atMost / all;
  into.pHigher = atLeast / all;
  into.exact = true;
}

void approximate(double u, double n, double m, double ties, RankTest& into) {
  const double total = n + m;
  const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  if (variance <= 0)
    return;  // all values are equal
  const double deviation = std::sqrt(variance);
  into.pLower = normalCdf((u - n * m / 2 + 0.5) / deviation);
  into.pHigher = normalCdf((n * m / 2 - u + 0.5) / deviation);
}

}  // namespace

RankTest mannWhitney(const std::vector<double>& first, const std::vector<double>& second) {
  RankTest test;
  if (first.empty() || second.empty())
    return test;
  const Ranked ranked = ranksOf(first, second);
  const auto n = static_cast<double>(first.size());
  const auto m = static_cast<double>(second.size());
  const double u = static_cast<double>(ranked.twiceSumOfFirst) / 2 - n * (n + 1) / 2;
  test.superiority = 1 - u / (n * m);
  if (first.size() + second.size() <= static_cast<std::size_t>(kExactValues))
    countSplits(ranked, first.size(), test);
  else
    approximate(u, n, m, ranked.ties, test);
  test.p = std::min(1.0, 2 * std::min(test.pLower, test.pHigher));
  return test;
}

}  // namespace sonde::engine::statistics
