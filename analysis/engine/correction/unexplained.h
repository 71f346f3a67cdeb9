// What recording took of a run's iterations though no event accounts for it: threads that wanted
// the same processors, memory or locks. A run that switched probes off and on says so itself: its
// iterations with all probes, corrected, should be as long as those with probes off. Uses the
// database's thread.
#pragma once

#include "analysis/engine/correction/corrected_times.h"
#include "analysis/engine/correction/cost_table.h"
#include "analysis/engine/correction/error_interval.h"
#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::correction {

// Of the trace's processes in the mean. What calls cost while their probe is off is no part of it.
// {}: probes were not switched, or not often enough to say.
Result<Unexplained> unexplainedOf(const store::Database& trace,
                                  const CorrectedTimes& times,
                                  const CostTable& costs);

}  // namespace sonde::engine::correction
