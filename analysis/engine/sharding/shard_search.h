// The search of shard(). Plain values; any thread.
#pragma once

#include "analysis/engine/sharding/sharding.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace sonde::engine::sharding {

// A lower cost, or the same with more even ranks: a move towards these opens ways to a lower cost.
struct ShardRating {
  double costNs = 0;
  double unevenness = 0;  // the sum of the squares of the ranks' times

  bool isBetterThan(const ShardRating& other) const noexcept;
};

// The sums of each rank in a sharding, kept up to date as tables move. A try costs as much with any
// number of ranks, a change of the tables in proportion to it.
class ShardLoads {
 public:
  using Sums = ShardingProblem::Table;

  explicit ShardLoads(const ShardingProblem& problem);  // no table has a rank
  ShardLoads(const ShardingProblem& problem, const std::vector<std::size_t>& rankOf);

  void add(std::size_t table, std::size_t rank);
  void move(std::size_t table, std::size_t from, std::size_t to);
  void swap(std::size_t one, std::size_t rankOfOne, std::size_t other, std::size_t rankOfOther);

  const std::vector<Sums>& ranks() const noexcept { return ranks_; }
  double bytes(std::size_t rank) const { return ranks_[rank].bytes; }
  ShardRating rating() const;
  // As if that change had been made.
  ShardRating withAdded(std::size_t table, std::size_t rank) const;
  ShardRating withMoved(std::size_t table, std::size_t from, std::size_t to) const;
  ShardRating withSwapped(std::size_t one,
                          std::size_t rankOfOne,
                          std::size_t other,
                          std::size_t rankOfOther) const;

 private:
  // Up to three ranks, so that one is left if two others change.
  using Extremes = std::vector<std::pair<double, std::size_t>>;

  void change(std::size_t table, std::size_t rank, double sign);
  void update();
  ShardRating rated(std::size_t one,
                    const Sums& ofOne,
                    std::size_t other,
                    const Sums& ofOther) const;

  const ShardingProblem& problem_;
  std::vector<Sums> ranks_;
  double sent_ = 0;
  double squares_ = 0;
  Extremes longest_;
  Extremes mostSent_;
  Extremes leastSent_;
};

class ShardSearch {
 public:
  explicit ShardSearch(const ShardingProblem& problem);

  Result<Sharding> best();

 private:
  // By descending size; nullopt: a table found no rank with memory for it.
  std::optional<std::vector<std::size_t>> place(
      double (*size)(const ShardingProblem::Table&)) const;
  // Where the table costs least beside those that have a rank; nullopt: no rank has memory for it.
  std::optional<std::size_t> cheapestRank(std::size_t table, const ShardLoads& loads) const;
  // As far as `tries_` last.
  void improve(std::vector<std::size_t>& rankOf);
  bool moveOne(std::vector<std::size_t>& rankOf, ShardLoads& loads);
  bool swapTwo(std::vector<std::size_t>& rankOf, ShardLoads& loads);
  std::vector<std::size_t> shaken(std::vector<std::size_t> rankOf);
  bool hasRoom(const ShardLoads& loads, std::size_t rank, double bytes) const;

  const ShardingProblem& problem_;
  std::mt19937 chance_;
  std::int64_t tries_;  // that are left
};

}  // namespace sonde::engine::sharding
