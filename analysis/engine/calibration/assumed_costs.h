// What recording costs where nobody has measured it: as on the machine that docs/performance.md
// speaks of, with errors as large as the costs. Plain functions; the database's thread.
#pragma once

#include "analysis/engine/correction/cost_table.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <vector>

namespace sonde::engine::calibration {

// Of each kind of event that recording knows.
std::vector<correction::MeasuredCost> assumedCosts();

// Adds to what `overhead` has of loops what is assumed of all else, and, of a run in which probes
// were switched off and on, what that has shown. Done again, it comes to the same. Why a run could
// not show anything is in the trace's notes.
Result<void> completeOverhead(store::Database& trace);

}  // namespace sonde::engine::calibration
