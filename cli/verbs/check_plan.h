// The answer of `sonde check --dry-run`: the rules that would judge, and whether the trace has the
// records that they need. A plain function; the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "cli/text/table.h"
#include "rules/engine/check.h"

namespace sonde::cli {

// A row per rule: severity, the probes that record its input, those of them with records in the
// trace, and its parameters that differ from the defaults.
Result<Table> checkPlan(const rules::Configuration& configuration, const store::Database& trace);

}  // namespace sonde::cli
