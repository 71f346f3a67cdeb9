// Which operations of a step begin together: sends with their receives, and collectives. A free
// function; any thread.
#pragma once

#include "analysis/engine/operations/operation_rows.h"
#include "analysis/engine/operations/step_needs.h"
#include "analysis/engine/operations/worker_operations.h"

#include <vector>

namespace sonde::engine::operations {

struct StepParts {
  const OperationRows& rows;
  const Step& step;
  const std::vector<WorkerOperations>& workers;  // as in rows
  const Pipeline& pipeline;
};

// Sets all members of `into` except `needs`.
//
// The n-th send of a stage meets the n-th receive of its neighbour. Collectives meet by their
// ordinal in the step: all-gathers and reduce-scatters the data-parallel ranks of a stage, the
// all-reduce of embeddings the first and the last stage, the clipping all workers. The all-reduce
// of layer norms is between tensor-parallel ranks, which are not apart.
void addMeetings(const StepParts& parts, StepNeeds& into);

}  // namespace sonde::engine::operations
