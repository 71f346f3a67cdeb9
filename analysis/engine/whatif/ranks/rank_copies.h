// A job with copies of its ranks, or without some of them. Free functions.
#pragma once

#include "analysis/engine/whatif/scenario.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::whatif {

// The ranks that have iterations, ascending.
std::vector<std::int64_t> ranksOf(const graph::TraceGraph& job);

// Leaves the first `count` of `ranks`: nobody waits for the others, and their iterations do not
// count. Errors are those of Scenario::restructure().
Result<void> dropRanks(Scenario& scenario,
                       const std::vector<std::int64_t>& ranks,
                       std::int64_t count);

// Adds iterations of copies, up to `count` ranks. The copies have no nodes of their own: they do
// all that their originals do, at the same time.
void repeatRanks(Scenario& scenario, const std::vector<std::int64_t>& ranks, std::int64_t count);

// Adds copies with nodes of their own. They come to the same meetings as their originals, and wait
// for the same lanes outside of their rank; nobody else waits for them. Requires: ranks meet in
// nodes of lanes without a rank. Errors are those of Scenario::restructure().
Result<void> copyRanks(Scenario& scenario,
                       const std::vector<std::int64_t>& ranks,
                       std::int64_t count);

}  // namespace sonde::engine::whatif
