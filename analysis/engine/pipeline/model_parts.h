// Which part of a model each computation of a pipeline is on. Within engine/pipeline. Plain values;
// any thread.
#pragma once

#include "analysis/engine/pipeline/stage_messages.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <vector>

namespace sonde::engine::pipeline {

// Where a lane is in the job.
struct StagePlace {
  std::size_t copy = 0;
  std::int64_t stage = 0;
};

struct ModelParts {
  std::vector<std::int64_t> part;                 // of the model; by computation
  std::vector<std::int64_t> originOf;             // the first computation of its microbatch
  std::map<graph::LaneIndex, StagePlace> places;  // of lanes that compute
  std::size_t copies = 0;
  std::int64_t stages = 0;
  std::int64_t chunks = 0;
};

// A computation without a producer is on the first part, a backward on the last one; else it is on
// the part behind, or before, its producer's. NotFound: the messages form no pipeline.
Result<ModelParts> partsOf(const Computations& computations);

}  // namespace sonde::engine::pipeline
