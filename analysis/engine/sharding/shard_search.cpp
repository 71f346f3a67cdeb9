#include "analysis/engine/sharding/shard_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sonde::engine::sharding {
namespace {

constexpr unsigned kSeed = 1;
constexpr int kShakes = 200;

// A lower cost, or the same with more even ranks.
using Rating = std::pair<double, double>;

Rating ratingOf(const ShardLoads& loads) {
  return {loads.costNs(), loads.unevenness()};
}

bool isBetter(const Rating& one, const Rating& other) {
  constexpr double kSame = 1e-12;  // by rounding
  if (one.first < other.first * (1 - kSame))
    return true;
  return one.first <= other.first * (1 + kSame) && one.second < other.second * (1 - kSame);
}

}  // namespace

ShardLoads::ShardLoads(const ShardingProblem& problem) : problem_(problem), ranks_(problem.ranks) {}

ShardLoads::ShardLoads(const ShardingProblem& problem, const std::vector<std::size_t>& rankOf)
    : ShardLoads(problem) {
  for (std::size_t table = 0; table < rankOf.size(); ++table)
    add(table, rankOf[table]);
}

void ShardLoads::change(std::size_t table, std::size_t rank, double sign) {
  const ShardingProblem::Table& of = problem_.tables[table];
  ranks_[rank].ns += sign * of.ns;
  ranks_[rank].bytes += sign * of.bytes;
  ranks_[rank].sentBytes += sign * of.sentBytes;
}

double ShardLoads::costNs() const {
  double longest = 0;
  double sent = 0;
  for (const ShardingProblem::Table& each : ranks_) {
    longest = std::max(longest, each.ns);
    sent += each.sentBytes;
  }
  const auto others = static_cast<double>(problem_.ranks - 1);
  double most = 0;
  for (const ShardingProblem::Table& each : ranks_)
    most = std::max({most, sent - each.sentBytes, each.sentBytes * others});
  if (others == 0)
    return longest;
  return longest + 2 * problem_.allToAll.ns(models::CollectiveCost{others, most, 1, most});
}

double ShardLoads::unevenness() const {
  double squares = 0;
  for (const ShardingProblem::Table& each : ranks_)
    squares += each.ns * each.ns;
  return squares;
}

ShardSearch::ShardSearch(const ShardingProblem& problem) : problem_(problem), chance_(kSeed) {}

bool ShardSearch::hasRoom(const ShardLoads& loads, std::size_t rank, double bytes) const {
  return loads.bytes(rank) + bytes <= problem_.bytesPerRank;
}

std::optional<std::size_t> ShardSearch::cheapestRank(std::size_t table, ShardLoads& loads) const {
  std::optional<std::size_t> chosen;
  Rating least;
  for (std::size_t rank = 0; rank < problem_.ranks; ++rank) {
    if (!hasRoom(loads, rank, problem_.tables[table].bytes))
      continue;
    loads.add(table, rank);
    const Rating rating = ratingOf(loads);
    loads.remove(table, rank);
    if (!chosen || isBetter(rating, least)) {
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

bool ShardSearch::moveOne(std::vector<std::size_t>& rankOf, ShardLoads& loads) const {
  const Rating now = ratingOf(loads);
  for (std::size_t table = 0; table < rankOf.size(); ++table)
    for (std::size_t rank = 0; rank < problem_.ranks; ++rank) {
      const std::size_t from = rankOf[table];
      if (rank == from || !hasRoom(loads, rank, problem_.tables[table].bytes))
        continue;
      loads.remove(table, from);
      loads.add(table, rank);
      if (isBetter(ratingOf(loads), now)) {
        rankOf[table] = rank;
        return true;
      }
      loads.remove(table, rank);
      loads.add(table, from);
    }
  return false;
}

bool ShardSearch::swapTwo(std::vector<std::size_t>& rankOf, ShardLoads& loads) const {
  const Rating now = ratingOf(loads);
  const auto exchange = [&](std::size_t one, std::size_t other) {
    loads.remove(one, rankOf[one]);
    loads.remove(other, rankOf[other]);
    std::swap(rankOf[one], rankOf[other]);
    loads.add(one, rankOf[one]);
    loads.add(other, rankOf[other]);
  };
  for (std::size_t one = 0; one < rankOf.size(); ++one)
    for (std::size_t other = one + 1; other < rankOf.size(); ++other) {
      const double more = problem_.tables[other].bytes - problem_.tables[one].bytes;
      if (rankOf[one] == rankOf[other] || !hasRoom(loads, rankOf[one], more) ||
          !hasRoom(loads, rankOf[other], -more))
        continue;
      exchange(one, other);
      if (isBetter(ratingOf(loads), now))
        return true;
      exchange(one, other);
    }
  return false;
}

void ShardSearch::improve(std::vector<std::size_t>& rankOf) const {
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
    loads.remove(table, rankOf[table]);
    loads.add(table, rank);
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
  for (int shake = 0; shake < kShakes; ++shake) {
    std::vector<std::size_t> other = shaken(best.rankOf);
    improve(other);
    if (const double ns = problem_.costNs(other); ns < best.ns)
      best = {std::move(other), ns};
  }
  return best;
}

}  // namespace sonde::engine::sharding
