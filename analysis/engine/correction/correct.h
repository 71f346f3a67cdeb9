// Takes the cost of recording out of a run. A pure function; any thread.
//
// Each lane goes through its events in the order of time. What recording one of them took is owed
// from then on, and is taken out of the lane's own time as soon as there is any: an interval never
// gets shorter than nothing, and what does not fit into one is taken from the next. While a lane
// waits nothing is taken out, until all that it waits for has come so far; from there on it goes
// its own way again:
//
//   latest  = max(begin, wakers + lags)      latest' = max(begin', wakers' + lags)
//
// with ' for corrected times. So what a lane loses to recording before a wait is absorbed by the
// wait, as far as the lane would only have waited longer; a lane gets earlier, too, when what it
// waits for does; and what a wait hid is not taken out twice.
//
// What a lane records inside of a wait it does on its own time: `begin` above is then the last
// begin or end of an event, or of a wait within the wait, before `latest`, and what recording that
// took is absorbed like what came before. What the wait's own event costs is owed when it goes on.
//
// Dependencies point backwards in time, so one pass in the order of time over the ends of all waits
// is enough. O(points + waits), once they are in that order.
#pragma once

#include "analysis/engine/correction/program.h"
#include "analysis/engine/correction/schedule.h"
#include "analysis/engine/correction/timeline.h"

#include <vector>

namespace sonde::engine::correction {

// One for each of `lanes`. `schedule`: of their waits. `costs`: what CostPoint::cost is an index
// of; negative ones count as nothing.
std::vector<Timeline> correct(const std::vector<Lane>& lanes,
                              const Schedule& schedule,
                              const std::vector<EventCost>& costs);

// The same of a program that is corrected once.
std::vector<Timeline> correct(const Program& program, const std::vector<EventCost>& costs);

}  // namespace sonde::engine::correction
