// Takes the cost of recording out of a run. A pure function; any thread.
//
// Each lane goes through its events in the order of time. What recording one of them took is owed
// from then on, and is taken out of the lane's own time as soon as there is any: an interval never
// gets shorter than nothing, and what does not fit into one is taken from the next. While a lane
// waits nothing is taken out, until all that it waits for has come so far; from there on it goes
// its own way again:
//
//   latest  = max(begin, wakers)      latest' = max(begin', wakers')
//
// with ' for corrected times. So what a lane loses to recording before a wait is absorbed by the
// wait, as far as the lane would only have waited longer; a lane gets earlier, too, when what it
// waits for does; and what a wait hid is not taken out twice.
//
// Dependencies point backwards in time, so one pass in the order of time over the ends of all waits
// is enough. O((points + waits) log waits).
#pragma once

#include "analysis/engine/correction/program.h"
#include "analysis/engine/correction/timeline.h"

#include <vector>

namespace sonde::engine::correction {

// One for each lane of `program`. `costs`: what CostPoint::cost is an index of; negative ones count
// as nothing.
std::vector<Timeline> correct(const Program& program, const std::vector<EventCost>& costs);

}  // namespace sonde::engine::correction
