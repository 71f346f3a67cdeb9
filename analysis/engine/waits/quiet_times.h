// When threads recorded nothing. Within engine/waits; the database's thread.
#pragma once

#include "analysis/engine/waits/lanes.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::engine::waits {

class QuietTimes {
 public:
  // `lanes` as of readLanes(). Requires: both outlive this.
  QuietTimes(const store::Database& trace, const Lanes& lanes) : trace_(trace), lanes_(lanes) {}

  // Whether the thread begins and ends nothing from `beginNs` to `endNs`, and was not in an
  // operator or a call at its begin. Reads each thread once.
  Result<bool> isQuiet(std::int64_t thread, std::int64_t beginNs, std::int64_t endNs);

 private:
  struct Begins {
    std::vector<std::int64_t> all;      // of slices
    std::vector<std::int64_t> ofWork;   // of operators and calls
    std::vector<std::int64_t> lastEnd;  // of `ofWork` so far
  };
  Result<const Begins*> beginsOf(std::int64_t thread);

  const store::Database& trace_;
  const Lanes& lanes_;
  std::unordered_map<std::int64_t, Begins> begins_;  // by thread
};

}  // namespace sonde::engine::waits
