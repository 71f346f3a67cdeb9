// How long the iterations of a rank were held up by its data loader, by files and by checkpoints.
// Plain values; reading uses the database's thread.
//
// What counts is the threads that iterations run on: from where such a thread asks for a batch
// until it has it, whether it waits for workers or loads by itself; calls on files; and writing or
// reading checkpoints. Each instant has one cause, in this order: the loader, a checkpoint with all
// that it does, a file. A stall is a stretch of one cause without a break, within one iteration.
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

// A stall that is worth a look takes this share of the median iteration: from there on
// TensorFlow's profiler calls a step bound by its input.
// Source: tensorflow.org/guide/data_performance_analysis.
inline constexpr double kStallShare = 0.05;

enum class Trend : std::uint8_t { Unknown, Steady, Grows, Shrinks };  // unknown: too few iterations
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
  std::optional<std::int64_t> waitNs;        // of ns: in calls that wait; none: not recorded
  std::int64_t fileNs = 0;                   // of ns: in calls on files
  std::optional<std::int64_t> deviceIdleNs;  // of ns: no device did anything; none: no devices
  std::int64_t iterations = 0;               // with a stall above the threshold
  std::vector<IterationStall> worst;         // of these five at most, the longest first
  Trend trend = Trend::Unknown;              // of its time in an iteration
  std::optional<std::int64_t> firstHalfNs;  // means of that; none: a single iteration has no halves
  std::optional<std::int64_t> secondHalfNs;
};

struct RankStalls {
  std::optional<std::int64_t> rank;
  std::string process;
  std::int64_t iterations = 0;
  std::int64_t iterationsNs = 0;  // together
  std::int64_t thresholdNs = 0;
  std::vector<StallTime> causes;  // that there are, in their order
};

// By `clock`, as `deviceBusy` is, in normal form: none of a rank without devices; `rank` is as
// recorded. Nothing of a rank without iterations.
Result<RankStalls> stallsOf(const store::Database& trace,
                            const RankProcess& rank,
                            const std::optional<Intervals>& deviceBusy,
                            const Clock& clock = {});

// What one thread of iterations did, in any order.
struct StallRecord {
  std::array<Intervals, kStallCauses> causes;
  Intervals waits;
  bool waitsKnown = false;
};
// The arithmetic of stallsOf(): everything but the names.
RankStalls accountForStalls(const StallRecord& record,
                            const std::vector<IterationTime>& iterations,
                            const std::optional<Intervals>& deviceBusy);

// Whether the second half of a series is higher, with blocks of neighbours as values (series.h):
// p below 1 %, and by at least `least` in the mean.
Trend trendOf(const std::vector<double>& values, double least);

}  // namespace sonde::engine::metrics
