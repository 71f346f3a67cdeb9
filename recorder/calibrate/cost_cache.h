// Keeps the measured costs of recording host calls for later runs, because measuring again would
// delay the end of each run by a second. One file per machine, kernel, Sonde build, interpreter and
// set of probes, in $XDG_CACHE_HOME/sonde or ~/.cache/sonde.
//
// Plain functions; any thread, and any number of processes at once. A file that cannot be read, or
// is damaged, counts as missing. Write errors are ignored.
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
  std::string python;  // path of the job's interpreter; empty: not a Python job
  std::uint32_t probeMask = 0;
};

struct CachedCosts {
  std::vector<engine::correction::MeasuredCost> costs;
  std::chrono::sys_seconds measured;
};

// From the variables of `environment` (NAME=VALUE); empty: there is no place for it.
std::filesystem::path costCacheFolder(const std::vector<std::string>& environment);

class CostCache {
 public:
  static constexpr std::chrono::days kOldest{30};

  CostCache(std::filesystem::path folder, const CostCacheKey& key);

  // Ignores costs that are older than kOldest, or from the future.
  std::optional<CachedCosts> read(std::chrono::sys_seconds now) const;
  void write(const CachedCosts& found) const;

 private:
  std::filesystem::path folder_;  // empty: none
  std::string key_;               // also stored in the file
  std::filesystem::path file_;
};

}  // namespace sonde::recorder
