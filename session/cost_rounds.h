// What it costs to record a call, from how long calls took in rounds of small programs with the
// recorder's library and without (cost_loops.h). Plain functions, any thread.
#pragma once

#include "analysis/engine/correction/cost_table.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde::session {

using CallTimes = std::map<std::pair<std::string, std::string>, double>;  // ns, by probe and api

// The lines `probe|api|ns` of what a program writes; others are passed over.
CallTimes callTimesIn(const std::string& text);

struct CostRound {
  CallTimes bare;
  CallTimes on;
  // With the probes off; nullopt: the program does not show that, and what a call costs while its
  // probe is off is taken to be all of it. Empty: it should have, and did not.
  std::optional<CallTimes> off;
};

// Of each call that was timed in all ways, bare and recorded in `atLeast` rounds. The error is half
// of the cost, since the loops do some work between two calls, but no program's own; of several
// rounds also half of the way from the least difference to the most. What does not show beyond that
// is left out.
std::vector<engine::correction::MeasuredCost> costsOf(const std::vector<CostRound>& rounds,
                                                      std::size_t atLeast = 1);

}  // namespace sonde::session
