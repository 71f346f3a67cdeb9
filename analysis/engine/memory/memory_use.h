// How much memory the processes of a job held, on devices and on the host: over time, at its peak,
// who held it then, and what each operation did with it. Plain values; reading uses the database's
// thread.
//
// An operation is a scope by its kind and name. What is allocated in it is allocated in all scopes
// around it, too, on whatever thread (docs/accuracy.md, scopes); of an operation within another of
// the same name the outer one counts.
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

// Of what was held at the peak, that of one scope.
struct MemoryHolder {
  std::string operationKind;  // of the innermost that is no module or operator; empty: none
  std::string operation;
  std::string scopeKind;  // of the innermost of all; empty: none
  std::string scope;
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

struct MemoryOperation {
  std::string kind;
  std::string name;
  std::int64_t count = 0;
  std::int64_t peakBytes = 0;       // the highest level, of all that is held, while it was open
  std::int64_t blocks = 0;          // that were allocated in it
  std::int64_t allocatedBytes = 0;  // their bytes
  std::int64_t keptBytes = 0;       // of these, still held at its end
  std::int64_t freedBytes = 0;      // given back while it was open, whoever had allocated it
};

struct MemoryUse {
  std::optional<std::int64_t> rank;
  std::string process;  // "rank 3", or "process 4711"
  std::string place;    // "gpu 0"; "host"
  std::string allocator;
  std::int64_t baseBytes = 0;  // held before the first block
  std::int64_t blocks = 0;
  std::int64_t allocatedBytes = 0;  // of all blocks together
  std::int64_t endBytes = 0;        // held after the last change
  MemoryLevel peak;
  std::optional<std::int64_t> peakIteration;  // in which the peak was
  std::vector<MemoryLevel> series;            // thinned(kMemoryStretches)
  std::vector<MemoryHolder> holders;  // at the peak, most bytes first; with the base they are it
  // The highest peak first, then what allocated most; without modules and operators that neither
  // allocated nor freed anything.
  std::vector<MemoryOperation> operations;
  // What the sampler saw of the device or of the process at most, whoever used it; none: not
  // sampled.
  std::optional<std::int64_t> sampledPeakBytes;
};

inline constexpr std::size_t kMemoryStretches = 200;

// By process, then device, host and allocator. Empty where no block was recorded.
Result<std::vector<MemoryUse>> memoryUses(const store::Database& trace,
                                          const std::vector<RankProcess>& ranks);

}  // namespace sonde::engine::metrics
