// The search of shard(). Plain values; any thread.
#pragma once

#include "analysis/engine/sharding/sharding.h"
#include "base/result.h"

#include <cstddef>
#include <optional>
#include <random>
#include <vector>

namespace sonde::engine::sharding {

// The sums of each rank in a sharding, kept up to date as tables move.
class ShardLoads {
 public:
  explicit ShardLoads(const ShardingProblem& problem);  // no table has a rank
  ShardLoads(const ShardingProblem& problem, const std::vector<std::size_t>& rankOf);

  void add(std::size_t table, std::size_t rank) { change(table, rank, 1); }
  void remove(std::size_t table, std::size_t rank) { change(table, rank, -1); }

  const std::vector<ShardingProblem::Table>& ranks() const noexcept { return ranks_; }
  double bytes(std::size_t rank) const { return ranks_[rank].bytes; }
  double costNs() const;
  // How uneven the ranks' times are: a move that lowers this opens ways to a lower cost.
  double unevenness() const;

 private:
  void change(std::size_t table, std::size_t rank, double sign);

  const ShardingProblem& problem_;
  std::vector<ShardingProblem::Table> ranks_;  // sums
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
  std::optional<std::size_t> cheapestRank(std::size_t table, ShardLoads& loads) const;
  void improve(std::vector<std::size_t>& rankOf) const;
  bool moveOne(std::vector<std::size_t>& rankOf, ShardLoads& loads) const;
  bool swapTwo(std::vector<std::size_t>& rankOf, ShardLoads& loads) const;
  std::vector<std::size_t> shaken(std::vector<std::size_t> rankOf);
  bool hasRoom(const ShardLoads& loads, std::size_t rank, double bytes) const;

  const ShardingProblem& problem_;
  std::mt19937 chance_;
};

}  // namespace sonde::engine::sharding
