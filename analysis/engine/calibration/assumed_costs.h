// Assumed costs of recording, for kinds of events that nobody measured. They are those of the
// machine in docs/performance.md, with errors as large as the costs. Plain functions; the
// database's thread.
#pragma once

#include "analysis/engine/correction/cost_table.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <vector>

namespace sonde::engine::calibration {

// One row for each kind of event that can be recorded.
std::vector<correction::MeasuredCost> assumedCosts();

// The table `overhead` has what loops measured. Adds assumed costs for all other kinds, and what a
// run that switched probes off and on has shown. Repeating it changes nothing. If the run could not
// show anything, the trace's notes have the reason.
Result<void> completeOverhead(store::Database& trace);

}  // namespace sonde::engine::calibration
