// Divides embedding tables among ranks, so that an iteration of a recommendation model waits as
// little as possible for its slowest rank. Plain values; any thread.
//
// Source of the costs: "Towards Universal Performance Modeling for Machine Learning Training on
// Multi-GPU Platforms" (Lin et al., TPDS 2024).
#pragma once

#include "analysis/engine/models/collective_model.h"
#include "analysis/engine/models/kernels/embedding_lookup.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::sharding {

struct Sharding {
  std::vector<std::size_t> rankOf;  // by table
  double ns = 0;                    // of an iteration: see costNs()
};

// Tables whose time and bytes are known, so that shards can be compared quickly.
struct ShardingProblem {
  struct Table {
    double ns = 0;         // its lookups, forward and backward
    double bytes = 0;      // on its rank
    double sentBytes = 0;  // results for each other rank
  };
  std::vector<Table> tables;
  std::size_t ranks = 0;
  double bytesPerRank = 0;
  models::CollectiveModel allToAll;

  // The time of the slowest rank's lookups, and of two all-to-alls: of results and of their
  // gradients. An all-to-all takes as long as the rank that sends or receives most: m = max over
  // ranks r of max(Σs − s_r, s_r (n − 1)).
  double costNs(const std::vector<std::size_t>& rankOf) const;
  // The sums of each rank's tables.
  std::vector<Table> loadsOf(const std::vector<std::size_t>& rankOf) const;
  // All ranks have memory for their tables.
  bool fits(const std::vector<std::size_t>& rankOf) const;
};

struct ShardingOptions {
  std::size_t ranks = 0;
  double bytesPerRank = 0;
  double bytesPerByte =
      1;  // memory for each byte of a table: 2 with as large a state of an optimizer
};

// `tables` have the samples of one rank as their batch; a rank looks them up for all ranks.
// InvalidArgument: a number is not above 0.
Result<ShardingProblem> shardingProblem(const std::vector<models::EmbeddingTable>& tables,
                                        const models::LookupDevice& device,
                                        const models::CollectiveModel& allToAll,
                                        const ShardingOptions& options);

// The longest tables first, each to the rank on which it costs least; then tables move and swap
// ranks while that helps, from several shardings that differ by chance (always the same one).
// NotFound: no sharding was found in which all ranks have memory for their tables.
Result<Sharding> shard(const ShardingProblem& problem);

}  // namespace sonde::engine::sharding
