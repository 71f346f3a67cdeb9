// Gives collectives, as they are after the questions before, other times. Free functions.
#pragma once

#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/scenario.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

// The bytes of a transfer, and how it moves them.
struct MovedBytes {
  const std::string& communicator;
  const std::string& op;
  std::int64_t bytes;
  std::int64_t ranks;  // of the communicator, when measured
  // Where it is a node, on devices and if a question made it: its present time, mean of the ranks.
  std::optional<double> presentNs = {};
  // Else how many times as long as measured its calls take now.
  double callFactor = 1;
};

// Gives each transfer another duration in ns: those that questions made, and those of collectives
// that have no such. nullopt: it keeps its own. Returns how many collectives keep theirs, since
// nothing is known of them or their kernels have no transfer of their own. Errors are those of
// Scenario::restructure(). Requires: `all` by last arrival.
Result<std::int64_t> retime(
    Scenario& scenario,
    const std::vector<JobCollective>& all,
    const std::function<std::optional<double>(const MovedBytes& moved)>& nsOf);

}  // namespace sonde::engine::whatif
