// Changes how long stretches of lanes take. Plain values; any thread.
#pragma once

#include "analysis/engine/whatif/lane_lookup.h"
#include "analysis/engine/whatif/scenario.h"
#include "analysis/engine/whatif/selection.h"
#include "analysis/engine/whatif/thread_spans.h"

#include <span>

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

// The present length of a stretch of work, which may lie in several nodes.
double presentNs(const Scenario& scenario, std::span<const SelectedPart> parts);

// Makes such a stretch take `ns`. Its parts keep their present proportions; if it takes no time
// now, the measured ones.
void setParts(Scenario& scenario, std::span<const SelectedPart> parts, double ns, Origin origin);

}  // namespace sonde::engine::whatif
