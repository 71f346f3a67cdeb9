// Where in the code the main thread of each rank was last seen: for a hang, where it waits. Plain
// values; reading uses the database's thread.
#pragma once

#include "analysis/engine/standstill/standstill.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::standstill {

struct StackFrame {
  std::string name;
  std::string path;       // empty: unknown
  std::int64_t line = 0;  // where the function begins; 0: unknown
  bool isPython = false;

  bool operator==(const StackFrame&) const = default;
};

// Ranks whose main threads are in the same functions.
struct StackGroup {
  std::vector<std::string> ranks;  // names, in the order of the ranks
  std::vector<StackFrame> frames;  // innermost first
};

// The largest group first; ranks without a stack are in none. A recorder takes stacks of all
// threads when the rule `hang` fires. Otherwise the newest stack of the probe `stack` counts.
Result<std::vector<StackGroup>> readRankStacks(const store::Database& trace,
                                               const std::vector<RankState>& ranks);

}  // namespace sonde::engine::standstill
