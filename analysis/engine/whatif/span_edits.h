// Changes how long stretches of lanes take. Plain values; any thread.
#pragma once

#include "analysis/engine/whatif/lane_lookup.h"
#include "analysis/engine/whatif/scenario.h"
#include "analysis/engine/whatif/thread_spans.h"

namespace sonde::engine::whatif {

// All that the lane does in `span`, in measured time.
void scaleSpan(Scenario& scenario,
               const LaneLookup& lookup,
               graph::LaneIndex lane,
               const Span& span,
               double factor,
               Origin origin);

// All that the lane does.
void scaleLane(Scenario& scenario,
               const LaneLookup& lookup,
               graph::LaneIndex lane,
               double factor,
               Origin origin);

}  // namespace sonde::engine::whatif
