// The ranks that make the job slow, by its graph, with the operation and the cause. Plain
// values; reading uses the database's thread.
#pragma once

#include "analysis/engine/stragglers/stragglers.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sonde::rules {

struct GraphFacts {
  std::vector<engine::stragglers::Straggler> stragglers;  // the slowest first
  std::size_t ranks = 0;
  std::size_t steps = 0;  // that could be compared
  std::string whyNone;    // why no rank can be named; empty: they can

  static constexpr bool kOfRecent = true;
  // A trace without anything that takes time has no ranks.
  static Result<GraphFacts> read(const store::Database& trace);
};

}  // namespace sonde::rules
