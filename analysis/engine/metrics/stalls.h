// How long data loading, files and checkpoints held up the iterations of a rank. Plain values;
// reading uses the database's thread.
//
// Only threads with iterations count. The causes are: from a request for a batch until the thread
// has it, whether it waits for workers or loads itself; calls on files; writing or reading
// checkpoints. Each instant has one cause, in this order: the loader, a checkpoint with all inside
// it, a file. A stall is an unbroken stretch of one cause within one iteration.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/engine/metrics/clock.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::metrics {

enum class StallCause : std::uint8_t { Loader, Checkpoint, File };
inline constexpr std::size_t kStallCauses = 3;
inline constexpr std::array<const char*, kStallCauses> kStallCauseNames = {
    "data loader", "checkpoint", "file"};

// A stall of this share of the median iteration deserves a look: from there on TensorFlow's
// profiler calls a step input-bound. Source: tensorflow.org/guide/data_performance_analysis.
inline constexpr double kStallShare = 0.05;

enum class Trend : std::uint8_t { Unknown, Steady, Grows, Shrinks };  // Unknown: too few iterations
inline constexpr std::array<const char*, 4> kTrendNames = {"unknown", "steady", "grows", "shrinks"};

struct IterationStall {
  std::int64_t number = 0;
  std::int64_t ns = 0;
};

struct StallTime {
  StallCause cause = StallCause::Loader;
  std::int64_t count = 0;
  std::int64_t above = 0;  // of these, of RankStalls::thresholdNs or more
  std::int64_t ns = 0;
  std::int64_t p50Ns = 0;  // nearest ranks, of single stalls
  std::int64_t p95Ns = 0;
  std::int64_t maxNs = 0;
  double share = 0;                          // of the time of iterations
  std::optional<std::int64_t> waitNs;        // part of ns: in calls that wait; unset: not recorded
  std::int64_t fileNs = 0;                   // part of ns: in calls on files
  std::optional<std::int64_t> deviceIdleNs;  // part of ns: no device worked; unset: no devices
  std::int64_t iterations = 0;               // with a stall above the threshold
  std::vector<IterationStall> worst;         // at most five of these, longest first
  Trend trend = Trend::Unknown;              // of the stall time per iteration
  std::optional<std::int64_t> firstHalfNs;   // means of that; unset: only one iteration
  std::optional<std::int64_t> secondHalfNs;
};

struct RankStalls {
  std::optional<std::int64_t> rank;
  std::string process;
  std::int64_t iterations = 0;
  std::int64_t iterationsNs = 0;  // sum of their lengths
  std::int64_t thresholdNs = 0;
  std::vector<StallTime> causes;  // those that occur, in order of StallCause
};

// Times are by `clock`. `deviceBusy` is by it too, in normal form; unset for a rank without
// devices. `rank` is as recorded. No causes for a rank without iterations.
Result<RankStalls> stallsOf(const store::Database& trace,
                            const RankProcess& rank,
                            const std::optional<Intervals>& deviceBusy,
                            const Clock& clock = {});

// The records of one thread with iterations, in any order.
struct StallRecord {
  std::array<Intervals, kStallCauses> causes;
  Intervals waits;
  bool waitsKnown = false;
};
// The arithmetic of stallsOf(), without the names.
RankStalls accountForStalls(const StallRecord& record,
                            const std::vector<IterationTime>& iterations,
                            const std::optional<Intervals>& deviceBusy);

// Compares the halves of a series, with blocks of neighbours as values (series.h). They differ if p
// is below 1 % and the means differ by at least `least`.
Trend trendOf(const std::vector<double>& values, double least);

}  // namespace sonde::engine::metrics
