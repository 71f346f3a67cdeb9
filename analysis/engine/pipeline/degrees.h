// The question how long a job would take with other parallel degrees. Free functions.
#pragma once

#include "analysis/engine/pipeline/pipeline_question.h"
#include "analysis/engine/whatif/question.h"

#include <cstdint>
#include <optional>

namespace sonde::engine::pipeline {

// A degree that is not given stays as it is.
struct Degrees {
  std::optional<std::int64_t> data = {};    // copies of the model
  std::optional<std::int64_t> tensor = {};  // ranks that share each layer
  PipelineChange pipeline = {};             // only if it has `stages`
};

// With T in place of t tensor-parallel ranks, kernels and gradients become t / T of what they are.
// Collectives take the time of an α–β model with the new number of ranks. The work of one copy of
// the model stays. NotFound: the trace lacks what a degree needs, such as collectives of more than
// one rank. InvalidArgument: as changePipeline().
whatif::Question changeDegrees(Degrees degrees);

}  // namespace sonde::engine::pipeline
