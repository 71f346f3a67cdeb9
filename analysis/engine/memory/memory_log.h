// The blocks of memory that processes had, as recorded or imported: by process, place and
// allocator. Plain values; reading uses the database's thread.
//
// Of a recording they are the rows of `allocation`; of torch.profiler's files the marks `[memory]`
// (`profile_memory=True`), which say how much PyTorch's allocator held before, too. Memory: about
// 50 bytes a block.
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
  std::optional<std::int64_t> deviceId;  // of the table `device`, where there is a row
  std::string place;                     // "gpu 0"; "host"
  std::string allocator;                 // `allocation.allocator`; "torch" of torch.profiler's

  auto operator<=>(const MemoryPlace&) const = default;
};

struct MemoryLog {
  std::int64_t baseBytes = 0;       // held before the first block, by nobody knows whom
  std::vector<MemoryBlock> blocks;  // by allocNs
};

using MemoryLogs = std::map<MemoryPlace, MemoryLog>;

// Blocks of which only the end is known count as held from before the first.
Result<MemoryLogs> readMemoryLogs(const store::Database& trace);

}  // namespace sonde::engine::metrics
