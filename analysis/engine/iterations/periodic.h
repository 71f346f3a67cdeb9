// Iterations of a trace in which nothing marks them: a training loop does the same again and again.
// Uses the database's thread.
#pragma once

#include "analysis/engine/iterations/iterations.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::iterations {

// How a series of names repeats.
struct Period {
  std::size_t length = 0;           // of most repetitions
  std::vector<std::size_t> begins;  // the index at which each begins; also the end of the last one
};

// The repetitions of a series. Each begins with a name that comes once in each of them; of several
// such names, the one with the longest pause before it, as a loop pauses before its first work.
// `pauses`: before each name, in ns. nullopt: the series does not repeat at least 3 times, or less
// than 80 % of it comes again one period later. O(n) for each of at most 64 tried periods.
std::optional<Period> periodOf(const std::vector<std::int64_t>& names,
                               const std::vector<std::int64_t>& pauses);

// The repetitions of the kernels that the busiest thread of each process launched, by process and
// start; of a process without kernels, of the slices of that thread that no other one contains.
// They are numbered from 0 and have no rows in table iteration.
Result<std::vector<Iteration>> readPeriodic(const store::Database& trace);

}  // namespace sonde::engine::iterations
