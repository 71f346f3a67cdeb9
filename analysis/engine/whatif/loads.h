// How the ranks of a job load their batches. Uses the database's thread while it reads; then plain
// values.
#pragma once

#include "analysis/engine/whatif/lane_lookup.h"
#include "analysis/engine/whatif/scenario.h"
#include "analysis/engine/whatif/selection.h"
#include "analysis/engine/whatif/thread_spans.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <vector>

namespace sonde::engine::whatif {

// The batches of one rank, in order.
struct RankLoads {
  graph::LaneIndex driver = 0;  // the thread that takes them
  std::vector<Span> loads;      // slices of that thread
  // Threads of the rank, or of processes without one, that the driver waits for in its loads or
  // that wait for it there; empty: it loads the batches itself.
  std::vector<graph::LaneIndex> feeders;
};

// Ranks without loads are left out. Those that an earlier question gave other feeders have these.
// InvalidArgument: it took a rank's feeders away.
Result<std::vector<RankLoads>> readLoads(const store::Database& trace,
                                         const Scenario& scenario,
                                         const LaneLookup& lookup);

// The stretches of a load in which the driver itself works.
std::vector<SelectedPart> ownParts(const graph::Graph& graph,
                                   const LaneLookup& lookup,
                                   graph::LaneIndex driver,
                                   const Span& load);

// How long the feeders work from the first load to the last, after earlier questions; without
// feeders, how long the driver works in its loads.
double loadingNs(const Scenario& scenario, const LaneLookup& lookup, const RankLoads& of);

}  // namespace sonde::engine::whatif
