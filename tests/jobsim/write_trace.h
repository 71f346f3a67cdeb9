// Writes what happened in a simulated job as the recorder would have: times of each machine's own
// clock, and only what a recorder can see. Ends the program on errors, as tests do.
#pragma once

#include "tests/jobsim/simulation.h"

#include <optional>
#include <string>

namespace sonde::jobsim {

// A trace of one rank, or of all ranks together. The main thread of a rank is its first.
void writeTrace(const Job& job,
                const History& history,
                const std::string& path,
                std::optional<int> rank = std::nullopt);

// A clock that is right shows this at the first moment of the job.
inline constexpr Ns kTraceStartNs = 1'000'000'000;

// The time that a machine's clock shows at this true time.
Ns shownBy(const Machine& machine, Ns trueNs);

}  // namespace sonde::jobsim
