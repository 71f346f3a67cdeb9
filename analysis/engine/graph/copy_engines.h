// The copy engines of devices: a device copies one thing at a time in each direction, whatever
// streams it is for. Within engine/graph. Uses the database's thread.
#pragma once

#include "analysis/engine/graph/graph_builder.h"
#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::graph {

// A copy needs the one before in its direction, if that was for another stream. Copies on one
// device in one direction that overlapped have more engines than one: those need nothing.
// Requires: all nodes were added.
Result<void> addCopyEngines(const store::Database& trace, GraphBuilder& builder);

}  // namespace sonde::engine::graph
