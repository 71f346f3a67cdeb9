#include "analysis/engine/sharding/sharding.h"

#include "analysis/engine/sharding/shard_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde::engine::sharding {
namespace {

bool isWhole(const models::EmbeddingTable& table) {
  return table.rows > 0 && table.dim > 0 && table.pooling > 0 && table.batch > 0;
}

}  // namespace

double ShardingProblem::costNs(const std::vector<std::size_t>& rankOf) const {
  return ShardLoads(*this, rankOf).rating().costNs;
}

std::vector<ShardingProblem::Table> ShardingProblem::loadsOf(
    const std::vector<std::size_t>& rankOf) const {
  return ShardLoads(*this, rankOf).ranks();
}

bool ShardingProblem::fits(const std::vector<std::size_t>& rankOf) const {
  const std::vector<Table> loads = loadsOf(rankOf);
  return std::all_of(
      loads.begin(), loads.end(), [this](const Table& each) { return each.bytes <= bytesPerRank; });
}

Result<ShardingProblem> shardingProblem(const std::vector<models::EmbeddingTable>& tables,
                                        const models::LookupDevice& device,
                                        const models::CollectiveModel& allToAll,
                                        const ShardingOptions& options) {
  if (tables.empty() || !std::all_of(tables.begin(), tables.end(), isWhole) || options.ranks == 0 ||
      !(options.bytesPerRank > 0) || !(options.bytesPerByte > 0) || !(device.dramBytesPerNs > 0) ||
      !(device.cacheBytesPerNs > 0) || !(device.flopsPerNs > 0))
    return Error{ErrorCode::InvalidArgument,
                 "sharding needs ranks, and tables and a device whose numbers are above 0"};
  const auto ranks = static_cast<double>(options.ranks);
  const double live = std::ceil(static_cast<double>(tables.size()) / ranks);
  ShardingProblem problem{.tables = {},
                          .ranks = options.ranks,
                          .bytesPerRank = options.bytesPerRank,
                          .allToAll = allToAll};
  for (models::EmbeddingTable table : tables) {
    const double sent = 4.0 * static_cast<double>(table.batch) * static_cast<double>(table.dim);
    table.batch *= static_cast<std::int64_t>(options.ranks);
    problem.tables.push_back(
        {lookupForwardNs(table, device, live) + lookupBackwardNs(table, device, live),
         table.bytes() * options.bytesPerByte,
         sent});
  }
  return problem;
}

Result<Sharding> shard(const ShardingProblem& problem) {
  return ShardSearch(problem).best();
}

}  // namespace sonde::engine::sharding
