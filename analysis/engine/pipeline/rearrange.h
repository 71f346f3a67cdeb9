// Puts another pipeline in place of a job's own. Plain values; any thread.
//
// The operations of the job then take no time and hold nobody. New nodes compute in the new order,
// between what came before a stage's run and what came behind it. The rest of an iteration stays as
// it is; with other numbers of stages a stage of the job stands for those at its place.
#pragma once

#include "analysis/engine/pipeline/operation_times.h"
#include "analysis/engine/pipeline/pipeline_job.h"
#include "analysis/engine/whatif/scenario.h"
#include "base/result.h"

namespace sonde::engine::pipeline {

// InvalidArgument: a pipeline of this shape cannot have the schedule. Requires: the scenario has
// not been restructured since the job was read.
Result<void> rearrange(whatif::Scenario& scenario, const PipelineJob& job, const Target& target);

}  // namespace sonde::engine::pipeline
