// The beginning and the end of a text report: facts about the run as a whole, losses, and
// recording. Pure functions.
#pragma once

#include "analysis/engine/metrics/run_facts.h"
#include "cli/report/report_lines.h"

namespace sonde::cli {

// The command, place and time of the run, and its own metadata.
Lines headLines(const engine::metrics::RunFacts& facts, bool full);
// Losses, the recorder's warnings, and the cost of recording.
Lines footLines(const engine::metrics::RunFacts& facts, bool full);

}  // namespace sonde::cli
