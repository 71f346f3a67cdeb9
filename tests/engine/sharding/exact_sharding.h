// The best sharding, by branch and bound: the truth for tests of the search. Shares no code with
// it.
#pragma once

#include "analysis/engine/sharding/sharding.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace sonde::test {

class ExactSharding {
 public:
  explicit ExactSharding(const engine::sharding::ShardingProblem& problem)
      : problem_(problem),
        order_(problem.tables.size()),
        ns_(problem.ranks),
        bytes_(problem.ranks),
        sent_(problem.ranks) {
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](std::size_t one, std::size_t other) {
      return problem.tables[one].ns > problem.tables[other].ns;
    });
    for (const auto& each : problem.tables) {
      allNs_ += each.ns;
      allSent_ += each.sentBytes;
    }
  }

  // The least cost, if it is below `limit`; `limit` if none is. nullopt: it gave up after so many
  // steps.
  std::optional<double> below(double limit, std::int64_t steps) {
    best_ = limit;
    steps_ = steps;
    descend(0, 0);
    return steps_ > 0 ? std::optional(best_) : std::nullopt;
  }

 private:
  double exchangeNs(double most) const {
    const auto others = static_cast<double>(problem_.ranks - 1);
    return 2 * problem_.allToAll.ns(engine::models::CollectiveCost{others, most, 1, most});
  }
  // No way to go on costs less: the mean of the ranks, and what is on a rank already.
  double boundNs() const {
    const auto ranks = static_cast<double>(problem_.ranks);
    double longest = allNs_ / ranks;
    double most = allSent_ - allSent_ / ranks;
    for (std::size_t rank = 0; rank < problem_.ranks; ++rank) {
      longest = std::max(longest, ns_[rank]);
      most = std::max(most, sent_[rank] * (ranks - 1));
    }
    return longest + exchangeNs(most);
  }
  double costNs() const {
    double most = 0;
    for (const double each : sent_)
      most = std::max({most, allSent_ - each, each * static_cast<double>(problem_.ranks - 1)});
    return *std::max_element(ns_.begin(), ns_.end()) + exchangeNs(most);
  }
  void descend(std::size_t depth, std::size_t used) {
    if (--steps_ <= 0 || boundNs() >= best_ * (1 - 1e-9))
      return;
    if (depth == order_.size()) {
      best_ = std::min(best_, costNs());
      return;
    }
    const auto& table = problem_.tables[order_[depth]];
    // Ranks without tables are alike.
    for (std::size_t rank = 0; rank < std::min(used + 1, problem_.ranks); ++rank) {
      if (bytes_[rank] + table.bytes > problem_.bytesPerRank)
        continue;
      change(rank, table, 1);
      descend(depth + 1, std::max(used, rank + 1));
      change(rank, table, -1);
    }
  }
  void change(std::size_t rank,
              const engine::sharding::ShardingProblem::Table& table,
              double sign) {
    ns_[rank] += sign * table.ns;
    bytes_[rank] += sign * table.bytes;
    sent_[rank] += sign * table.sentBytes;
  }

  const engine::sharding::ShardingProblem& problem_;
  std::vector<std::size_t> order_;
  std::vector<double> ns_;
  std::vector<double> bytes_;
  std::vector<double> sent_;
  double allNs_ = 0;
  double allSent_ = 0;
  double best_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace sonde::test
