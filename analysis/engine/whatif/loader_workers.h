// The question how long a job would take with another number of loader workers. Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>

namespace sonde::engine::whatif {

// Each rank has `workers` processes that load its batches in turns, each two batches ahead; with 0
// the rank loads them itself. Each worker has a processor of its own. NotFound: the trace has no
// loads.
Question loaderWorkers(std::int64_t workers);

}  // namespace sonde::engine::whatif
