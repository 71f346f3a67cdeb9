// The times of a report: of each rank, corrected and as recorded, and the cost of recording. Plain
// values; reading uses the database's thread.
#pragma once

#include "analysis/engine/correction/cost_class.h"
#include "analysis/engine/metrics/clock.h"
#include "analysis/engine/metrics/operations.h"
#include "analysis/engine/metrics/rank_time.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace sonde::engine::report {

// Times are corrected if the cost of recording is known, except those marked "as recorded".
struct RankReport {
  metrics::RankProcess process;                      // as recorded
  std::vector<metrics::CorrectedNs> iterationTimes;  // of its iterations
  metrics::IterationStatistics iterations;
  std::optional<metrics::IterationParts> parts;  // of the median iteration
  metrics::RankTime time;
  std::int64_t idleLoadNs = 0;  // part of its idle time: iterations waited for the data loader
  metrics::RankTime rawTime;    // as recorded
  metrics::RankTime lowTime;    // the bounds of its intervals
  metrics::RankTime highTime;
  std::vector<metrics::RankTime> stepTimes;  // of its iterations, as recorded
  std::vector<metrics::OperationTime> operations;
  std::vector<metrics::CorrectedNs> operationTimes;  // the operations' `ns`
};

// The time that recording took of the iterations, or of a run without iterations.
struct RecordingCost {
  bool known = false;  // false: times are as recorded
  bool ofIterations = false;
  metrics::CorrectedNs sum;  // of all ranks' iterations, or of their windows
  std::map<correction::CostClass, std::int64_t> unknown;  // events of unknown cost
  correction::Unexplained unexplained;                    // all intervals include it

  // As a share of the recorded time; unset if that is 0.
  std::optional<double> share() const { return shareOf(sum.ns); }
  std::optional<double> low() const { return shareOf(sum.highNs); }
  std::optional<double> high() const { return shareOf(sum.lowNs); }

 private:
  std::optional<double> shareOf(std::int64_t leftNs) const;
};

struct RankTimes {
  std::vector<RankReport> ranks;
  RecordingCost cost;
};

Result<RankTimes> readRankTimes(const store::Database& trace,
                                std::vector<metrics::RankProcess> processes,
                                const metrics::Clocks& clocks);

}  // namespace sonde::engine::report
