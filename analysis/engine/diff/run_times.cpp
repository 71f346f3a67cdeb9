#include "analysis/engine/diff/run_times.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde::engine::diff {
namespace {

using Numbers = std::vector<std::int64_t>;

// Those that all ranks have; where there is none, as when ranks number them differently, those that
// any has.
Numbers commonIterations(const std::vector<RankTimes>& ranks) {
  Numbers common = ranks.front().iterations;
  Numbers any = common;
  for (const RankTimes& rank : ranks) {
    Numbers both;
    Numbers either;
    std::set_intersection(common.begin(),
                          common.end(),
                          rank.iterations.begin(),
                          rank.iterations.end(),
                          std::back_inserter(both));
    std::set_union(any.begin(),
                   any.end(),
                   rank.iterations.begin(),
                   rank.iterations.end(),
                   std::back_inserter(either));
    common = std::move(both);
    any = std::move(either);
  }
  return common.empty() ? any : common;
}

// Where times of RankTimes go to.
using Part = std::pair<Times RankTimes::*, Times RunTimes::*>;
constexpr Part kParts[] = {{&RankTimes::times, &RunTimes::times},
                           {&RankTimes::raw, &RunTimes::raw},
                           {&RankTimes::errors, &RunTimes::errors}};

// Adds the part that one rank has in each of `numbers`; `as` is the rank that it is shown as.
void addRank(const RankTimes& rank,
             const Part& part,
             std::optional<std::int64_t> as,
             const Numbers& numbers,
             RunTimes& run) {
  Times& into = run.*part.second;
  for (const auto& [subject, times] : rank.*part.first) {
    Subject own = subject;
    own.rank = as;
    std::vector<double>& sums = into[own];
    sums.resize(numbers.size(), 0);
    std::size_t at = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      while (at < rank.iterations.size() && rank.iterations[at] < numbers[i])
        ++at;
      if (at < rank.iterations.size() && rank.iterations[at] == numbers[i])
        sums[i] += times[at];
    }
  }
}

// How many ranks have each of `numbers`.
std::vector<double> ranksIn(const std::vector<RankTimes>& ranks, const Numbers& numbers) {
  std::vector<double> counts(numbers.size(), 0);
  for (const RankTimes& rank : ranks)
    for (std::size_t i = 0; i < numbers.size(); ++i)
      counts[i] += std::binary_search(rank.iterations.begin(), rank.iterations.end(), numbers[i]);
  return counts;
}

}  // namespace

std::size_t warmUpOf(std::size_t iterations) noexcept {
  if (iterations < 2)
    return 0;
  return std::clamp<std::size_t>((iterations + 9) / 10, 1, 20);
}

RunTimes runOf(const std::vector<RankTimes>& ranks,
               bool byRank,
               std::optional<std::size_t> warmUp) {
  const Numbers all = commonIterations(ranks);
  RunTimes run;
  run.ranks = ranks.size();
  run.warmUp = std::min(warmUp.value_or(warmUpOf(all.size())), all.size());
  const Numbers numbers(all.begin() + static_cast<std::ptrdiff_t>(run.warmUp), all.end());
  run.iterations = numbers.size();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    const auto shown = byRank ? std::optional(ranks[i].rank.value_or(place)) : std::nullopt;
    for (const Part& part : kParts)
      addRank(ranks[i], part, shown, numbers, run);
    run.partial += ranks[i].partial;
  }
  run.costs = ranks.front().costs;
  if (byRank)
    return run;
  const std::vector<double> counts = ranksIn(ranks, numbers);
  for (const Part& part : kParts)
    for (auto& [subject, times] : run.*part.second)
      for (std::size_t i = 0; i < times.size(); ++i)
        times[i] /= counts[i];
  return run;
}

}  // namespace sonde::engine::diff
