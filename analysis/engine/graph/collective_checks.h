// Checks of the collectives that a graph rests on. Uses the database's thread.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <vector>

namespace sonde::engine::graph {

// Three checks of collectives with the same group and number:
//  - `partners`: the trace has not all members, so some waits are missing.
//  - `mismatch`: the members called different operations. The text names the first such call and
//    its ranks.
//  - `clocks`: hosts of members have clocks that nothing relates, so their waits are missing.
Result<std::vector<Check>> collectiveChecks(const store::Database& trace);

}  // namespace sonde::engine::graph
