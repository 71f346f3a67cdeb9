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

// What it takes for a cost to be told.
struct Evidence {
  std::size_t rounds = 1;     // with the call in all ways, at least
  bool beyondSpread = false;  // more than the error that differences between rounds make
};

// Of each call the least time that it took recorded less the least bare, where that is more than
// nothing. The error is half of the cost, since the loops do some work between two calls, but no
// program's own; of several rounds also half of the way from the least difference to the most.
std::vector<engine::correction::MeasuredCost> costsOf(const std::vector<CostRound>& rounds,
                                                      const Evidence& needed = {});

}  // namespace sonde::session
