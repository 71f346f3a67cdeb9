// The beginning and the end of a text report: what the trace says about the run as a whole, about
// losses and about recording. Pure functions.
#pragma once

#include "analysis/engine/metrics/run_facts.h"
#include "cli/report/report_lines.h"

namespace sonde::cli {

// What was run, where and when, and what it said of itself.
Lines headLines(const engine::metrics::RunFacts& facts, bool full);
// What was lost, what the recorder warns of, what recording cost.
Lines footLines(const engine::metrics::RunFacts& facts, bool full);

}  // namespace sonde::cli
