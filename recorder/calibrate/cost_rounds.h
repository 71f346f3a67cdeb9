// Computes the cost of recording a call from rounds of small programs with the recorder's library
// and without it (cost_loops.h). Plain functions, any thread.
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

// The lines `probe|api|ns` in a program's output; ignores other lines.
CallTimes callTimesIn(const std::string& text);

struct CostRound {
  CallTimes bare;
  CallTimes on;
  // Times with the probes off. nullopt: the program cannot measure that; a call whose probe is off
  // is then assumed to have its full cost. Empty: the measurement failed.
  std::optional<CallTimes> off;
};

// A cost is reported only if at least this many rounds have timed the call, both bare and recorded.
// A single round does not show disturbances of the machine.
inline constexpr std::size_t kRoundsNeeded = 2;

// The cost of a call is its fastest time recorded minus its fastest time bare, because disturbances
// of a round mostly make calls longer. The error combines two parts. One is half of the cost,
// because the loops do some work between two calls, but not a real program's work. The other is the
// gap between the second fastest and the fastest times, as an estimate of the remaining
// disturbance. A cost below that gap is not reported.
std::vector<engine::correction::MeasuredCost> costsOf(const std::vector<CostRound>& rounds);

}  // namespace sonde::recorder
