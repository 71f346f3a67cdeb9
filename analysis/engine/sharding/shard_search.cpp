#include "analysis/engine/sharding/shard_search.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace sonde::engine::sharding {
namespace {

constexpr unsigned kSeed = 1;
constexpr int kShakes = 200;
// All moves and swaps that are tried, so that large problems end within seconds.
constexpr std::int64_t kTries = 200'000'000;

using Sums = ShardLoads::Sums;

Sums changed(const Sums& sums, const ShardingProblem::Table& table, double sign) {
  return {sums.ns + sign * table.ns,
          sums.bytes + sign * table.bytes,
          sums.sentBytes + sign * table.sentBytes};
}

// The best three ranks, the best one first.
template <class Better>
void keepBest(std::vector<std::pair<double, std::size_t>>& best,
              double value,
              std::size_t rank,
              Better isBetter) {
  constexpr std::size_t kKept = 3;
  const auto at = std::find_if(
      best.begin(), best.end(), [&](const auto& each) { return isBetter(value, each.first); });
  if (at == best.end() && best.size() == kKept)
    return;
  best.insert(at, {value, rank});
  best.resize(std::min(best.size(), kKept));
}

// That of the other ranks; `otherwise`: there are no others.
double bestBut(const std::vector<std::pair<double, std::size_t>>& best,
               std::size_t one,
               std::size_t other,
               double otherwise) {
  for (const auto& [value, rank] : best)
    if (rank != one && rank != other)
      return value;
  return otherwise;
}

}  // namespace

bool ShardRating::isBetterThan(const ShardRating& other) const noexcept {
  constexpr double kSame = 1e-12;  // by rounding
  if (costNs < other.costNs * (1 - kSame))
    return true;
  return costNs <= other.costNs * (1 + kSame) && unevenness < other.unevenness * (1 - kSame);
}

ShardLoads::ShardLoads(const ShardingProblem& problem) : problem_(problem), ranks_(problem.ranks) {
  update();
}

ShardLoads::ShardLoads(const ShardingProblem& problem, const std::vector<std::size_t>& rankOf)
    : problem_(problem), ranks_(problem.ranks) {
  for (std::size_t table = 0; table < rankOf.size(); ++table)
    change(table, rankOf[table], 1);
  update();
}

void ShardLoads::add(std::size_t table, std::size_t rank) {
  change(table, rank, 1);
  update();
}

void ShardLoads::move(std::size_t table, std::size_t from, std::size_t to) {
  change(table, from, -1);
  change(table, to, 1);
  update();
}

void ShardLoads::swap(std::size_t one,
                      std::size_t rankOfOne,
                      std::size_t other,
                      std::size_t rankOfOther) {
  change(one, rankOfOne, -1);
  change(other, rankOfOther, -1);
  change(one, rankOfOther, 1);
  change(other, rankOfOne, 1);
  update();
}

void ShardLoads::change(std::size_t table, std::size_t rank, double sign) {
  ranks_[rank] = changed(ranks_[rank], problem_.tables[table], sign);
}

void ShardLoads::update() {
  sent_ = 0;
  squares_ = 0;
  longest_.clear();
  mostSent_.clear();
  leastSent_.clear();
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Sums& of = ranks_[rank];
    sent_ += of.sentBytes;
    squares_ += of.ns * of.ns;
    keepBest(longest_, of.ns, rank, std::greater<>());
    keepBest(mostSent_, of.sentBytes, rank, std::greater<>());
    keepBest(leastSent_, of.sentBytes, rank, std::less<>());
  }
}

ShardRating ShardLoads::rating() const {
  return rated(0, ranks_[0], 0, ranks_[0]);
}

ShardRating ShardLoads::withAdded(std::size_t table, std::size_t rank) const {
  const Sums then = changed(ranks_[rank], problem_.tables[table], 1);
  return rated(rank, then, rank, then);
}

ShardRating ShardLoads::withMoved(std::size_t table, std::size_t from, std::size_t to) const {
  const ShardingProblem::Table& moved = problem_.tables[table];
  return rated(from, changed(ranks_[from], moved, -1), to, changed(ranks_[to], moved, 1));
}

ShardRating ShardLoads::withSwapped(std::size_t one,
                                    std::size_t rankOfOne,
                                    std::size_t other,
                                    std::size_t rankOfOther) const {
  const ShardingProblem::Table& first = problem_.tables[one];
  const ShardingProblem::Table& second = problem_.tables[other];
  return rated(rankOfOne,
               changed(changed(ranks_[rankOfOne], first, -1), second, 1),
               rankOfOther,
               changed(changed(ranks_[rankOfOther], second, -1), first, 1));
}

// If these ranks had other sums. They may be the same rank.
ShardRating ShardLoads::rated(std::size_t one,
                              const Sums& ofOne,
                              std::size_t other,
                              const Sums& ofOther) const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const bool areTwo = one != other;
  const double sent = sent_ + ofOne.sentBytes - ranks_[one].sentBytes +
                      (areTwo ? ofOther.sentBytes - ranks_[other].sentBytes : 0);
  const double squares =
      squares_ + ofOne.ns * ofOne.ns - ranks_[one].ns * ranks_[one].ns +
      (areTwo ? ofOther.ns * ofOther.ns - ranks_[other].ns * ranks_[other].ns : 0);
  const double longest = std::max({ofOne.ns, ofOther.ns, bestBut(longest_, one, other, 0)});
  const auto others = static_cast<double>(problem_.ranks - 1);
  if (others == 0)
    return {longest, squares};
  const double mostSent =
      std::max({ofOne.sentBytes, ofOther.sentBytes, bestBut(mostSent_, one, other, 0)});
  const double leastSent =
      std::min({ofOne.sentBytes, ofOther.sentBytes, bestBut(leastSent_, one, other, kNone)});
  const double most = std::max({0.0, sent - leastSent, mostSent * others});
  return {longest + 2 * problem_.allToAll.ns(models::CollectiveCost{others, most, 1, most}),
          squares};
}

ShardSearch::ShardSearch(const ShardingProblem& problem)
    : problem_(problem), chance_(kSeed), tries_(kTries) {}

bool ShardSearch::hasRoom(const ShardLoads& loads, std::size_t rank, double bytes) const {
  return loads.bytes(rank) + bytes <= problem_.bytesPerRank;
}

std::optional<std::size_t> ShardSearch::cheapestRank(std::size_t table,
                                                     const ShardLoads& loads) const {
  std::optional<std::size_t> chosen;
  ShardRating least;
  for (std::size_t rank = 0; rank < problem_.ranks; ++rank) {
    if (!hasRoom(loads, rank, problem_.tables[table].bytes))
      continue;
    const ShardRating rating = loads.withAdded(table, rank);
    if (!chosen || rating.isBetterThan(least)) {
      chosen = rank;
      least = rating;
    }
  }
  return chosen;
}

std::optional<std::vector<std::size_t>> ShardSearch::place(
    double (*size)(const ShardingProblem::Table&)) const {
  std::vector<std::size_t> order(problem_.tables.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return size(problem_.tables[one]) > size(problem_.tables[other]);
  });
  ShardLoads loads(problem_);
  std::vector<std::size_t> rankOf(order.size());
  for (const std::size_t table : order) {
    const std::optional<std::size_t> chosen = cheapestRank(table, loads);
    if (!chosen)
      return std::nullopt;
    loads.add(table, *chosen);
    rankOf[table] = *chosen;
  }
  return rankOf;
}

bool ShardSearch::moveOne(std::vector<std::size_t>& rankOf, ShardLoads& loads) {
  const ShardRating now = loads.rating();
  for (std::size_t table = 0; table < rankOf.size(); ++table)
    for (std::size_t rank = 0; rank < problem_.ranks && tries_ > 0; ++rank) {
      --tries_;
      const std::size_t from = rankOf[table];
      if (rank == from || !hasRoom(loads, rank, problem_.tables[table].bytes))
        continue;
      if (!loads.withMoved(table, from, rank).isBetterThan(now))
        continue;
      loads.move(table, from, rank);
      rankOf[table] = rank;
      return true;
    }
  return false;
}

bool ShardSearch::swapTwo(std::vector<std::size_t>& rankOf, ShardLoads& loads) {
  const ShardRating now = loads.rating();
  for (std::size_t one = 0; one < rankOf.size(); ++one)
    for (std::size_t other = one + 1; other < rankOf.size() && tries_ > 0; ++other) {
      --tries_;
      const double more = problem_.tables[other].bytes - problem_.tables[one].bytes;
      if (rankOf[one] == rankOf[other] || !hasRoom(loads, rankOf[one], more) ||
          !hasRoom(loads, rankOf[other], -more))
        continue;
      if (!loads.withSwapped(one, rankOf[one], other, rankOf[other]).isBetterThan(now))
        continue;
      loads.swap(one, rankOf[one], other, rankOf[other]);
      std::swap(rankOf[one], rankOf[other]);
      return true;
    }
  return false;
}

void ShardSearch::improve(std::vector<std::size_t>& rankOf) {
  constexpr int kMostChanges = 10'000;  // each costs less, but for rounding
  ShardLoads loads(problem_, rankOf);
  for (int change = 0; change < kMostChanges; ++change)
    if (!moveOne(rankOf, loads) && !swapTwo(rankOf, loads))
      return;
}

// Some tables move to any rank with memory for them.
std::vector<std::size_t> ShardSearch::shaken(std::vector<std::size_t> rankOf) {
  constexpr std::size_t kMoved = 4;
  ShardLoads loads(problem_, rankOf);
  for (std::size_t at = 0; at < kMoved; ++at) {
    const std::size_t table = chance_() % rankOf.size();
    const std::size_t rank = chance_() % problem_.ranks;
    if (rank == rankOf[table] || !hasRoom(loads, rank, problem_.tables[table].bytes))
      continue;
    loads.move(table, rankOf[table], rank);
    rankOf[table] = rank;
  }
  return rankOf;
}

Result<Sharding> ShardSearch::best() {
  auto rankOf = place([](const ShardingProblem::Table& table) { return table.ns; });
  if (!rankOf)
    rankOf = place([](const ShardingProblem::Table& table) { return table.bytes; });
  if (!rankOf)
    return notFound("no sharding was found in which all ranks have memory for their tables");
  improve(*rankOf);
  Sharding best{*rankOf, problem_.costNs(*rankOf)};
  for (int shake = 0; shake < kShakes && tries_ > 0; ++shake) {
    std::vector<std::size_t> other = shaken(best.rankOf);
    improve(other);
    if (const double ns = problem_.costNs(other); ns < best.ns)
      best = {std::move(other), ns};
  }
  return best;
}

}  // namespace sonde::engine::sharding
