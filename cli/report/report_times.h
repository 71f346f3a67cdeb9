// The times of a report: of each rank, corrected and as recorded, and the cost of recording.
// Reading uses the database's thread.
#pragma once

#include "analysis/engine/metrics/clock.h"
#include "analysis/engine/metrics/operations.h"
#include "analysis/engine/metrics/rank_time.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

// Times are corrected if the cost of recording is known, except those marked "as recorded".
struct RankReport {
  engine::metrics::RankProcess process;                      // as recorded
  std::vector<engine::metrics::CorrectedNs> iterationTimes;  // of its iterations
  engine::metrics::IterationStatistics iterations;
  std::optional<engine::metrics::IterationParts> parts;  // of the median iteration
  engine::metrics::RankTime time;
  engine::metrics::RankTime rawTime;  // as recorded
  engine::metrics::RankTime lowTime;  // the bounds of its intervals
  engine::metrics::RankTime highTime;
  std::vector<engine::metrics::RankTime> stepTimes;  // of its iterations, as recorded
  std::vector<engine::metrics::OperationTime> operations;
  std::vector<engine::metrics::CorrectedNs> operationTimes;  // the operations' `ns`
};

// The time that recording took of the iterations, or of a run without iterations.
struct RecordingCost {
  bool known = false;  // false: times are as recorded
  bool ofIterations = false;
  engine::metrics::CorrectedNs sum;             // of all ranks' iterations, or of their windows
  std::vector<std::string> unknown;             // events of unknown cost: "12 net transfer"
  engine::correction::Unexplained unexplained;  // all intervals include it

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
                                std::vector<engine::metrics::RankProcess> processes,
                                const engine::metrics::Clocks& clocks);

// "recording took 4.1 % of an iteration (3.6 to 4.7 %), taken out of these times"; empty: no
// statement.
std::string costText(const RecordingCost& cost);
// "with probes off iterations are 5.1 % shorter still (± 1.2 %), which no event accounts for".
std::string unexplainedText(const engine::correction::Unexplained& unexplained);
// `{share, error}`; null: unknown.
nlohmann::json unexplainedJson(const engine::correction::Unexplained& unexplained);
// `{corrected, ns, raw_ns, low_ns, high_ns, share, low, high, of, unknown[], unexplained,
// recorder_share}`.
nlohmann::json costJson(const RecordingCost& cost);

}  // namespace sonde::cli
