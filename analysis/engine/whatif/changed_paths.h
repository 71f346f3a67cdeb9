// The critical paths of a job under other settings, by place, cause and name. Uses the database's
// thread.
#pragma once

#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/whatif/scenario.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

// A line of the summary of the critical paths of all iterations.
struct ChangedShare {
  std::string entity;  // the thread or stream
  critical::PathCause cause = critical::PathCause::Host;
  std::string what;
  double ns = 0;     // mean of an iteration
  double share = 0;  // of all paths
};

struct ChangedPaths {
  std::vector<ChangedShare> shares;             // the longest first
  std::array<double, kOrigins> originShares{};  // of all paths, by Origin; 1 together
};

// `times`: of scenario.replay().
Result<ChangedPaths> changedPaths(const store::Database& trace,
                                  const Scenario& scenario,
                                  const replay::Times& times);

}  // namespace sonde::engine::whatif
