#include "analysis/engine/graph/rank_checks.h"

#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace sonde::engine::graph {
namespace {

constexpr const char* kWorldSize =
    "SELECT max((SELECT ifnull(max(world_size), 0) FROM process), (SELECT ifnull(max(size), 0) "
    "FROM communicator), (SELECT ifnull(max(rank) + 1, 0) FROM communicator_member))";
constexpr const char* kRanks = "SELECT DISTINCT rank FROM process WHERE rank BETWEEN 0 AND 1e9";

constexpr std::size_t kMostNamed = 8;

Result<std::set<std::int64_t>> readRanks(const store::Database& trace) {
  std::set<std::int64_t> ranks;
  SONDE_TRY(store::forEachRow(trace, kRanks, [&](const store::Statement& row) -> Result<void> {
    ranks.insert(row.integer(0));
    return {};
  }));
  return ranks;
}

std::string listOf(const std::vector<std::string>& named, std::int64_t count) {
  const bool isWhole = count == static_cast<std::int64_t>(named.size());
  return fmt::format("{}{}", fmt::join(named, ", "), isWhole ? "" : ", …");
}

// A trace without any rank says nothing of the others.
Check missingRanks(const std::set<std::int64_t>& ranks, std::int64_t world) {
  Check check{"ranks", 0, 0, "ranks of the job that the trace does not have"};
  if (ranks.empty())
    return check;
  world = std::max(world, *ranks.rbegin() + 1);
  check.violations = world - static_cast<std::int64_t>(ranks.size());
  std::vector<std::string> named;
  for (std::int64_t rank = 0; rank < world && named.size() < kMostNamed; ++rank)
    if (!ranks.contains(rank))
      named.push_back(fmt::format("rank {}", rank));
  if (!named.empty())
    check.text = fmt::format("ranks that the trace does not have, of {} in the job: {}",
                             world,
                             listOf(named, check.violations));
  return check;
}

Check missingIterations(const std::set<std::int64_t>& ranks,
                        const std::vector<IterationNodes>& iterations) {
  Check check{"iterations", 0, 0, "ranks with fewer iterations than others"};
  auto ofRanks = iterationsOfRanks(iterations);
  std::set<IterationName> all;
  for (const auto& [rank, names] : ofRanks)
    all.insert(names.begin(), names.end());
  std::vector<std::string> named;
  for (const std::int64_t rank : ranks) {
    const std::size_t count = ofRanks[rank].size();
    if (count < all.size() && ++check.violations <= static_cast<std::int64_t>(kMostNamed))
      named.push_back(fmt::format("rank {} has {}", rank, count));
  }
  if (!named.empty())
    check.text = fmt::format("ranks without all {} iterations of the job: {}",
                             all.size(),
                             listOf(named, check.violations));
  return check;
}

}  // namespace

std::map<std::int64_t, std::set<IterationName>> iterationsOfRanks(
    const std::vector<IterationNodes>& iterations) {
  std::map<std::int64_t, std::set<IterationName>> found;
  for (const IterationNodes& each : iterations)
    if (each.rank >= 0)
      found[each.rank].insert({each.number, each.occurrence});
  return found;
}

Result<std::vector<Check>> rankChecks(const store::Database& trace,
                                      const std::vector<IterationNodes>& iterations) {
  SONDE_TRY_ASSIGN(const std::set<std::int64_t> ranks, readRanks(trace));
  SONDE_TRY_ASSIGN(const std::int64_t world, trace.queryInteger(kWorldSize));
  return std::vector<Check>{missingRanks(ranks, world), missingIterations(ranks, iterations)};
}

}  // namespace sonde::engine::graph
