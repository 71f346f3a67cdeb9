// Held memory with the names of its processes and operations. Uses the database's thread.
#pragma once

#include "analysis/engine/footprint/held_memory.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::footprint {

struct MemoryRow {
  std::optional<std::int64_t> rank;
  std::string process;  // "rank 3", or "process 4711"
  std::string place;    // "gpu 0"; "host"
  std::string allocator;
  std::int64_t peakBytes = 0;
  std::int64_t baseBytes = 0;
  // Where the peak is reached.
  std::optional<std::int64_t> iteration;
  std::string operation;  // innermost scope, without modules and operators; empty: none
  graph::NodeIndex node = graph::kNoNode;
};

// In the order of `held`.
Result<std::vector<MemoryRow>> memoryRows(const store::Database& trace,
                                          const std::vector<HeldMemory>& held);

}  // namespace sonde::engine::footprint
