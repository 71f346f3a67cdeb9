// The time that a run spent in each iteration, by rank or for all ranks together: the observations
// of a comparison. Pure functions over plain values; any thread.
#pragma once

#include "analysis/engine/diff/iteration_times.h"
#include "analysis/engine/diff/subject.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace sonde::engine::diff {

struct RunTimes {
  Times times;                 // each has length `iterations`; so do the next two
  Times raw;                   // the same as recorded; empty: `times` is as recorded
  Times errors;                // standard errors of what was subtracted; empty: nothing was
  CostSource costs;            // of the subtracted costs
  std::size_t iterations = 0;  // those that count: all ranks have them
  std::size_t ranks = 0;
  std::size_t warmUp = 0;    // the first iterations, which do not count
  std::size_t unwanted = 0;  // do not count, because they were not chosen
  std::size_t partial = 0;   // do not count, because fewer probes recorded in them
};

// Which iterations of a run count.
struct IterationChoice {
  // The first ones of the run, which do not. Unset: warmUpOf(); none if `wanted` chooses.
  std::optional<std::size_t> warmUp = {};
  std::function<bool(const IterationName&)> wanted = {};  // null: all
};

// A tenth of the iterations, at least one and at most 20. 0 for a single iteration.
std::size_t warmUpOf(std::size_t iterations) noexcept;

// `byRank`: ranks stay separate, and processes without a rank are joined. Else all are joined, so
// that jobs with different numbers of ranks can be compared. Several joined processes give their
// mean. Requires: `ranks` is not empty.
RunTimes runOf(const std::vector<IterationTimes>& ranks,
               bool byRank,
               const IterationChoice& choice);

}  // namespace sonde::engine::diff
