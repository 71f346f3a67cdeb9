// Questions about a job: what would happen if. Uses the database's thread while one is asked.
#pragma once

#include "analysis/engine/models/model_set.h"
#include "analysis/engine/whatif/scenario.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <functional>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

// The job that a question is asked of.
struct Asking {
  const store::Database& trace;
  Scenario& scenario;
  std::vector<std::string>& notes;  // sentences: what the answer assumes
  // The largest relative error of the models that durations come from.
  double& modelError;
  // The relative error of the whole answer that no duration has, such as from who gets a processor
  // first.
  double& orderError;
  // Asked in this order of the job as all questions have left it.
  std::vector<std::function<Result<void>(Asking& asking)>>& afterwards;
  // Given ones: those of collectives replace what the trace says of the same operations.
  const models::ModelSet& models;
};

// Changes the scenario. NotFound: the trace lacks what the question needs, or nothing matches.
// InvalidArgument: the question contradicts itself or the job.
using Question = std::function<Result<void>(Asking& asking)>;

}  // namespace sonde::engine::whatif
