// Schedules of a pipeline that the optimiser tries. Uses the database's thread.
#pragma once

#include "analysis/engine/optimise/change.h"
#include "analysis/engine/whatif/asked_job.h"
#include "base/result.h"

namespace sonde::engine::optimise {

// Schedules that train as the present one does, with as many microbatches as now, half, twice and
// four times as many. NotFound: the trace shows no pipeline.
Result<Family> pipelineChanges(const whatif::AskedJob& job);

}  // namespace sonde::engine::optimise
