// The blocks of memory of processes, recorded or imported, by process, place and allocator. Plain
// values; reading uses the database's thread.
//
// A recording has them as rows of `allocation`. Files of torch.profiler have them as `[memory]`
// marks (`profile_memory=True`), which also contain how much PyTorch's allocator held before.
// Memory: about 50 bytes per block.
#pragma once

#include "analysis/engine/memory/memory_levels.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::metrics {

struct MemoryPlace {
  std::int64_t processId = 0;
  std::optional<std::int64_t> deviceId;  // of the table `device`, if it has a row
  std::string place;                     // "gpu 0"; "host"
  std::string allocator;                 // `allocation.allocator`; "torch" for torch.profiler's

  auto operator<=>(const MemoryPlace&) const = default;
};

struct MemoryLog {
  std::int64_t baseBytes = 0;       // held before the first block, by unknown owners
  std::vector<MemoryBlock> blocks;  // by allocNs
};

using MemoryLogs = std::map<MemoryPlace, MemoryLog>;

// Blocks with a known end only count as held from before the first one.
Result<MemoryLogs> readMemoryLogs(const store::Database& trace);

}  // namespace sonde::engine::metrics
