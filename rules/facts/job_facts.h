// The ranks of a job as a whole: their devices, collectives and time. The engines compute
// it; rules read it. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/changes/iteration_changes.h"
#include "analysis/engine/device/device_summary.h"
#include "analysis/engine/metrics/rank_time.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/engine/metrics/run_facts.h"
#include "analysis/engine/metrics/stalls.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::rules {

// The processes that train.
struct RankList {
  std::vector<engine::metrics::RankProcess> ranks;
  std::string sources;  // the probes that the run asked for, "cuda,gloo"; empty: unknown

  static Result<RankList> read(const store::Database& trace);

  // Whether the run asked for the probe. An imported trace has no list: then it may have.
  bool mayHave(std::string_view probe) const noexcept;
  // The name of a process: as in `ranks`, else "rank 3" or "process 4711".
  std::string nameOf(std::int64_t processId,
                     std::optional<std::int64_t> rank,
                     std::int64_t pid) const;
};

// Work of devices, and all collectives. `summary.ranks` are those of `list`.
struct DeviceFacts {
  RankList list;
  engine::device::JobSummary summary;

  static constexpr bool kOfRecent = true;
  static Result<DeviceFacts> read(const store::Database& trace);
};

// Who came late to collectives, iteration by iteration.
struct LagFacts {
  RankList list;
  engine::device::ClockCheck clocks;
  std::vector<engine::device::IterationLags> lags;
  double iterationNs = 0;  // the median of all ranks; 0: there are none

  static constexpr bool kOfRecent = true;
  static Result<LagFacts> read(const store::Database& trace);
};

// Time of ranks: computing, communicating, idle; by rank of `list`.
struct TimeFacts {
  RankList list;
  std::vector<engine::metrics::RankTime> times;

  static constexpr bool kOfRecent = true;
  static Result<TimeFacts> read(const store::Database& trace);
};

// How long loaders, files and checkpoints held up iterations; by rank of `list`.
struct StallFacts {
  RankList list;
  std::vector<engine::metrics::RankStalls> stalls;

  static constexpr bool kOfRecent = true;
  static Result<StallFacts> read(const store::Database& trace);
};

// When iterations became longer or shorter.
struct ChangeFacts {
  std::vector<engine::changes::RankChanges> ranks;

  static Result<ChangeFacts> read(const store::Database& trace);
};

}  // namespace sonde::rules
