// The values that a training program reports, by iteration: losses, learning rates, norms, and its
// throughput. With the time of each iteration, to line both up. Plain values; reading uses the
// database's thread. Times are on the job's common clock.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::training {

struct ScalarPoint {
  std::int64_t iteration = 0;  // its number; a value without one has the number of values before it
  double value = 0;            // NaN: it was not a number
  metrics::Interval time{};    // of the iteration; empty, at the value's time, if that is unknown
};

struct ScalarSeries {
  std::string process;  // "rank 3", or "process 4711"
  std::optional<std::int64_t> rank;
  std::vector<ScalarPoint> points;  // by time
};

// Names of scalars that Sonde derives from reported amounts.
inline constexpr std::string_view kSamplesPerSecond = "samples per second";
inline constexpr std::string_view kTokensPerSecond = "tokens per second";

// The names of all scalars: those with most values first, derived ones last.
Result<std::vector<std::string>> scalarNames(const store::Database& trace);
// One series for each process that reported it. Empty: none did.
Result<std::vector<ScalarSeries>> scalarSeries(const store::Database& trace,
                                               const std::vector<metrics::RankProcess>& ranks,
                                               const std::string& name);

// The length of each rank's iterations in ns, as recorded. Ranks without iterations are left out.
Result<std::vector<ScalarSeries>> iterationSeries(const store::Database& trace,
                                                  const std::vector<metrics::RankProcess>& ranks);

// The times of iterations, by process and number; ascending, since numbers may repeat.
using IterationSpans =
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<metrics::Interval>>;
Result<IterationSpans> iterationSpans(const store::Database& trace);
// The iteration with this number that a value of `ns` belongs to: the last one that began before.
// nullopt: the process has no such iteration.
std::optional<metrics::Interval> spanOf(const IterationSpans& spans,
                                        std::int64_t processId,
                                        std::int64_t number,
                                        std::int64_t ns);

}  // namespace sonde::engine::training
