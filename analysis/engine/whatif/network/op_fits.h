// Models of a job's operations, for use with other jobs. Plain functions; any thread.
#pragma once

#include "analysis/engine/models/op_models.h"
#include "analysis/engine/whatif/job_collectives.h"

#include <vector>

namespace sonde::engine::whatif {

// A model of each operation for each number of ranks, and one for all numbers if there are several.
// Uses complete collectives during which their communicator ran no other. Requires: `all` by last
// arrival.
std::vector<models::OpModel> fitOperations(const std::vector<JobCollective>& all);

}  // namespace sonde::engine::whatif
