// Subtracts the cost of recording from a run. A pure function; any thread.
//
// Each lane goes through its events in the order of time. Recording an event adds its cost to the
// lane's debt, which is subtracted from the lane's own time as soon as possible. An interval never
// becomes negative: the rest is subtracted from the next one. While a lane waits nothing is
// subtracted, until everything it waits for has come. From there on the lane goes its own way
// again:
//
//   latest  = max(begin, wakers + lags)      latest' = max(begin', wakers' + lags)
//
// with ' for corrected times. So a wait absorbs what recording took before it, as far as the lane
// would only have waited longer. A lane also gets earlier when what it waits for does. Time that a
// wait hid is not subtracted twice.
//
// Events inside a wait are recorded on the lane's own time. `begin` above is then the last begin or
// end, before `latest`, of an event or of an inner wait; the cost of recording up to there is
// absorbed as well. The cost of the wait's own event is due when the lane goes on.
//
// Dependencies point backwards in time, so one pass over the ends of all waits in the order of time
// is enough. O(points + waits) once they are sorted.
#pragma once

#include "analysis/engine/correction/program.h"
#include "analysis/engine/correction/schedule.h"
#include "analysis/engine/correction/timeline.h"

#include <vector>

namespace sonde::engine::correction {

// Returns one timeline per lane. `schedule` holds the lanes' waits. CostPoint::cost is an index of
// `costs`; negative costs count as zero.
std::vector<Timeline> correct(const std::vector<Lane>& lanes,
                              const Schedule& schedule,
                              const std::vector<EventCost>& costs);

// The same for a program that is corrected only once.
std::vector<Timeline> correct(const Program& program, const std::vector<EventCost>& costs);

}  // namespace sonde::engine::correction
