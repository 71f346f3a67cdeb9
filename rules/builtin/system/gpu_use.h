// The use of GPUs by seconds, as the system probe sampled it. Plain functions; any thread.
#pragma once

#include "rules/engine/rule.h"
#include "rules/facts/counter_facts.h"
#include "rules/facts/job_facts.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::rules {

// The parameters `warmup_s` and `window_s`.
std::vector<ParameterSpec> secondsParameters();

// The seconds after the warm-up, the newest ones up to the window. Requires: secondsParameters().
std::vector<double> newestSeconds(const CounterSeries& series, const Parameters& parameters);

// The nearest-rank percentile. Requires: not empty.
double percentileOf(std::vector<double> values, double fraction);

// "the last 60 s" of that many values.
std::string windowOfSeconds(std::size_t seconds);

// Insufficient, or skipped if the job had no GPU although one would have been sampled: no device
// has the counter.
Outcome gpuNotSampled(const RankList& list);

// Seconds that all these series have in common, aligned; by series. Empty if they have none.
std::vector<std::vector<double>> aligned(const std::vector<const CounterSeries*>& series,
                                         const Parameters& parameters);

}  // namespace sonde::rules
