// The question how long a job would take with another pipeline. Free functions.
#pragma once

#include "analysis/engine/pipeline/schedules.h"
#include "analysis/engine/whatif/question.h"

#include <cstdint>
#include <optional>

namespace sonde::engine::pipeline {

// A setting that is not given stays as it is.
struct PipelineChange {
  std::optional<Schedule> schedule = {};
  std::optional<std::int64_t> microbatches = {};
  std::optional<std::int64_t> chunks = {};  // of the model, on each stage
  std::optional<std::int64_t> stages = {};
  // Microbatches keep their size, so that the job's batch grows with their number. Else the batch
  // stays, and with M in place of m microbatches an operation takes m / M of its time.
  bool keepsMicrobatchSize = false;
};

// NotFound: the trace shows no pipeline. InvalidArgument: a pipeline of this shape cannot have the
// schedule.
whatif::Question changePipeline(PipelineChange change);

}  // namespace sonde::engine::pipeline
