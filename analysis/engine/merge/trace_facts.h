// What a trace says about the job it belongs to, and whether several traces can belong to one.
// Plain values and free functions; any thread.
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

inline constexpr std::int64_t kNoEnd = INT64_MAX / 2;  // later than any, and may be subtracted

struct TraceFacts {
  std::filesystem::path path;
  std::string job;  // empty: unknown
  std::set<std::int64_t> ranks;
  std::optional<std::int64_t> worldSize;
  std::map<std::string, std::int64_t>
      epochs;  // by boot id: realtime − monotonic that its job times contain
  std::size_t hosts = 0;
  std::set<std::string> images;  // of recorded processes: what no two images of any host share
  bool isImport = false;         // no process has a boot id: nobody knows its clock
  std::optional<std::int64_t> beginNs;  // of its processes, on wall clocks unless it is an import
  std::optional<std::int64_t> endNs;    // kNoEnd: they are still being recorded
};

Result<TraceFacts> readFacts(const store::Database& trace);

// Unsupported when two of the traces contradict each other; names both files, and what to do.
Result<void> checkOneJob(const std::vector<TraceFacts>& traces);

// InvalidArgument when two of the traces hold the same processes: one file, by whatever name, a
// copy of it, or parts of one recording. Names both.
Result<void> checkDistinct(const std::vector<TraceFacts>& traces);

// What is odd, though no contradiction: imports whose spans do not meet may be of different runs,
// or of clocks that count from different moments. Names both files.
std::vector<std::string> doubtsOf(const std::vector<TraceFacts>& traces);

// What to add to the times of `trace` so that they count like those of the traces before it, which
// used `epochs` for their boots. Unsupported when its hosts would need different amounts.
Result<std::int64_t> shiftOf(const TraceFacts& trace,
                             const std::map<std::string, std::int64_t>& epochs);

}  // namespace sonde::engine::merge
