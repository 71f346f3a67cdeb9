// What loops of the host found that recording a call costs, kept for later runs: to find it again
// would delay the end of each by a second. One file for each machine, kernel, Sonde, interpreter
// and set of probes, in $XDG_CACHE_HOME/sonde, or ~/.cache/sonde.
//
// Plain functions; any thread, and any number of processes at once. What cannot be read, or is
// damaged, is as if it were not there; what cannot be written is left.
#pragma once

#include "analysis/engine/correction/cost_table.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

struct CostCacheKey {
  std::string build;   // of Sonde's library
  std::string python;  // path of the job's interpreter; empty: it is no Python
  std::uint32_t probeMask = 0;
};

struct CachedCosts {
  std::vector<engine::correction::MeasuredCost> costs;
  std::chrono::sys_seconds measured;
};

// By the variables of `environment` (NAME=VALUE); empty: there is no place for it.
std::filesystem::path costCacheFolder(const std::vector<std::string>& environment);

class CostCache {
 public:
  static constexpr std::chrono::days kOldest{30};

  CostCache(std::filesystem::path folder, const CostCacheKey& key);

  // Not what is older than kOldest, or from the future.
  std::optional<CachedCosts> read(std::chrono::sys_seconds now) const;
  void write(const CachedCosts& found) const;

 private:
  std::filesystem::path folder_;  // empty: none
  std::string key_;               // as the file says it, too
  std::filesystem::path file_;
};

}  // namespace sonde::recorder
