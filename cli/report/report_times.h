// The times of a report: of each rank, as they would have been without recording and as recorded,
// and what recording took. Reading uses the database's thread.
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

// Without what recording took, where that is known, but for what is said to be as recorded.
struct RankReport {
  engine::metrics::RankProcess process;                      // as recorded
  std::vector<engine::metrics::CorrectedNs> iterationTimes;  // of its iterations
  engine::metrics::IterationStatistics iterations;
  std::optional<engine::metrics::IterationParts> parts;  // of the median iteration
  engine::metrics::RankTime time;
  engine::metrics::RankTime rawTime;  // as recorded
  engine::metrics::RankTime lowTime;  // the ends of its intervals
  engine::metrics::RankTime highTime;
  std::vector<engine::metrics::RankTime> stepTimes;  // of its iterations, as recorded
  std::vector<engine::metrics::OperationTime> operations;
  std::vector<engine::metrics::CorrectedNs> operationTimes;  // their `ns`
};

// What recording took of the iterations, or of a run without them.
struct RecordingCost {
  bool known = false;  // else times are as recorded
  bool ofIterations = false;
  engine::metrics::CorrectedNs sum;  // of all ranks' iterations, or of their windows
  std::vector<std::string> unknown;  // events that nobody knows the cost of: "12 net transfer"
  engine::correction::Unexplained unexplained;  // which all intervals allow for

  // As a share of the recorded time; nothing where there is none.
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

// "recording took 4.1 % of an iteration (3.6 to 4.7 %), taken out of these times"; empty: there is
// nothing to say.
std::string costText(const RecordingCost& cost);
// "with probes off iterations are 5.1 % shorter still (± 1.2 %), which no event accounts for".
std::string unexplainedText(const engine::correction::Unexplained& unexplained);
// `{share, error}`; null: the trace does not say.
nlohmann::json unexplainedJson(const engine::correction::Unexplained& unexplained);
// `{corrected, ns, raw_ns, low_ns, high_ns, share, low, high, of, unknown[], unexplained,
// recorder_share}`.
nlohmann::json costJson(const RecordingCost& cost);

}  // namespace sonde::cli
