// The time that recording took of a run's iterations although no event accounts for it: threads
// competed for processors, memory or locks. A run that switched probes off and on shows this time.
// Its iterations with all probes, corrected, should be as long as those with probes off. Uses the
// database's thread.
#pragma once

#include "analysis/engine/correction/corrected_times.h"
#include "analysis/engine/correction/cost_table.h"
#include "analysis/engine/correction/error_interval.h"
#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::correction {

// Averages over the trace's processes. Excludes the cost of calls while their probe is off. {}:
// probes were not switched, or too rarely.
Result<Unexplained> unexplainedOf(const store::Database& trace,
                                  const CorrectedTimes& times,
                                  const CostTable& costs);

}  // namespace sonde::engine::correction
