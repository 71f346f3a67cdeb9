// Adds to a finding where in the code the ranks wait. Plain functions; any thread.
#pragma once

#include "analysis/engine/standstill/rank_stacks.h"
#include "rules/engine/verdict.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::rules {

// The meaning of a frame's line.
enum class StackLines : std::uint8_t {
  OfFunctions,  // a recorder reads where a function begins, not where it is
  OfCalls,      // PyTorch's dumps have the line of the call
};

// "rank 0, rank 1 and 2 more"
std::string whoWaits(const std::vector<std::string>& names);

// The evidence `stacks` has all groups. The locations are the Python functions of the finding's
// entity, innermost first, but the user's own code comes before installed packages.
void addStacks(const std::vector<engine::standstill::StackGroup>& groups,
               StackLines lines,
               Finding& finding);

}  // namespace sonde::rules
