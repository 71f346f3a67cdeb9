// The memory that the processes of a job held on devices and on the host: over time, at its peak,
// its holders at the peak, and its use by each operation. Plain values; reading uses the database's
// thread.
//
// An operation is a scope by its kind and name. An allocation counts for all scopes around it, on
// any thread (docs/accuracy.md, scopes). If an operation is inside another one of the same name,
// only the outer one counts.
#pragma once

#include "analysis/engine/memory/memory_log.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::metrics {

// One scope's part of the memory held at the peak.
struct MemoryHolder {
  std::string operationKind;  // innermost scope, without modules and operators; empty: none
  std::string operation;
  std::string scopeKind;  // of the innermost scope; empty: none
  std::string scope;
  std::string site;  // function and line of the allocation; empty: not asked for, or no stack
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

struct MemoryOperation {
  std::string kind;
  std::string name;
  std::int64_t count = 0;
  std::int64_t peakBytes = 0;       // highest level of all held memory while it was open
  std::int64_t blocks = 0;          // that were allocated in it
  std::int64_t allocatedBytes = 0;  // their bytes
  std::int64_t keptBytes = 0;       // part of these, still held at its end
  std::int64_t freedBytes = 0;      // freed while it was open, whoever had allocated it
};

struct MemoryUse {
  std::int64_t processId = 0;
  std::optional<std::int64_t> deviceId;  // as in MemoryPlace
  std::optional<std::int64_t> rank;
  std::string process;  // "rank 3", or "process 4711"
  std::string place;    // "gpu 0"; "host"
  std::string allocator;
  std::int64_t baseBytes = 0;  // held before the first block
  std::int64_t blocks = 0;
  std::int64_t allocatedBytes = 0;  // of all blocks together
  std::int64_t endBytes = 0;        // held after the last change
  MemoryLevel peak;
  std::optional<std::int64_t> peakIteration;  // that contains the peak
  std::vector<MemoryLevel> series;            // thinned(kMemoryStretches)
  std::vector<MemoryHolder> holders;  // at the peak, most bytes first; with the base they sum to it
  // The highest peak first, then by allocated bytes. Leaves out modules and operators that neither
  // allocated nor freed anything.
  std::vector<MemoryOperation> operations;
  // The sampler's highest value for the device or the process, whoever used it. Unset: not sampled.
  std::optional<std::int64_t> sampledPeakBytes;
};

inline constexpr std::size_t kMemoryStretches = 200;

// Ordered by process, then device, host and allocator. Empty if no block was recorded. `within`:
// job time; all values are then those in it: `blocks` were allocated in it, `endBytes` are held at
// its end, and operations share time with it.
Result<std::vector<MemoryUse>> memoryUses(const store::Database& trace,
                                          const std::vector<RankProcess>& ranks,
                                          const std::optional<Interval>& within = {});

// The memory held at an instant, by scope and site, most bytes first. `ns` is in the time of the
// place's host, as in MemoryUse. Does not contain the base.
Result<std::vector<MemoryHolder>> memoryHolders(const store::Database& trace,
                                                const MemoryPlace& place,
                                                std::int64_t ns);

}  // namespace sonde::engine::metrics
