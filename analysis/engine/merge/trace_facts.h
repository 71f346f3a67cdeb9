// The job that a trace belongs to, and whether several traces can belong to one. Plain values and
// free functions; any thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sonde::engine::merge {

inline constexpr std::int64_t kNoEnd = INT64_MAX / 2;  // later than any time, without overflow

struct TraceFacts {
  std::filesystem::path path;
  std::string job;  // empty: unknown
  std::set<std::int64_t> ranks;
  std::optional<std::int64_t> worldSize;
  std::map<std::string, std::int64_t>
      epochs;  // by boot id: the difference realtime − monotonic in its job times
  std::size_t hosts = 0;
  std::set<std::string> images;  // of recorded processes: ids that no two images on any host share
  bool isImport = false;         // no process has a boot id, so its clock is unknown
  std::optional<std::int64_t> beginNs;  // of its processes, by wall clock unless it is an import
  std::optional<std::int64_t> endNs;    // kNoEnd: they are still being recorded
};

Result<TraceFacts> readFacts(const store::Database& trace);

// Unsupported if two of the traces contradict each other. The message names both files and the
// remedy.
Result<void> checkOneJob(const std::vector<TraceFacts>& traces);

// InvalidArgument if two of the traces hold the same processes: the same file under another name, a
// copy of it, or parts of one recording. The message names both.
Result<void> checkDistinct(const std::vector<TraceFacts>& traces);

// Oddities that are not contradictions: imports whose spans do not overlap may be from different
// runs, or from clocks with different origins. Names both files.
std::vector<std::string> doubtsOf(const std::vector<TraceFacts>& traces);

// The amount to add to the times of `trace`, so that they match the previous traces, whose epochs
// by boot are `epochs`. Unsupported if its hosts need different amounts.
Result<std::int64_t> shiftOf(const TraceFacts& trace,
                             const std::map<std::string, std::int64_t>& epochs);

}  // namespace sonde::engine::merge
