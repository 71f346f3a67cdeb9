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

namespace sonde::recorder {

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

// So many rounds have to have timed a call, bare and recorded, for its cost to be told: one does
// not show what the machine did meanwhile.
inline constexpr std::size_t kRoundsNeeded = 2;

// Of each call the least time that it took recorded, less the least bare: what disturbs a round
// mostly makes calls longer. The error is half of the cost, since the loops do some work between
// two calls, but no program's own; and how far the second least times are above the least, as an
// estimate of what is left in these. What does not show beyond the latter is not told.
std::vector<engine::correction::MeasuredCost> costsOf(const std::vector<CostRound>& rounds);

}  // namespace sonde::recorder
