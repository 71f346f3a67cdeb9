// What a run spent in each of its iterations: its ranks together, or each by itself. The
// observations of a comparison. Pure functions over plain values; any thread.
#pragma once

#include "analysis/engine/diff/iteration_times.h"
#include "analysis/engine/diff/subject.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace sonde::engine::diff {

struct RunTimes {
  Times times;                 // each `iterations` long, as are
  Times raw;                   // … the same as recorded; empty: they are
  Times errors;                // … standard errors of what was taken out; empty: nothing was
  CostSource costs;            // of what was taken out
  std::size_t iterations = 0;  // that count: those that all ranks have
  std::size_t ranks = 0;
  std::size_t warmUp = 0;   // the first iterations, which do not count
  std::size_t partial = 0;  // iterations that do not count since fewer probes recorded in them
};

// A tenth of the iterations, at least one and at most 20; none of a single one.
std::size_t warmUpOf(std::size_t iterations) noexcept;

// `byRank`: the ranks by themselves, and together those processes that have none; else all of them
// together, so that jobs of different numbers of ranks can be compared. Of several processes, as a
// rank that executes another program has them, it is the mean. `warmUp`: nothing is as warmUpOf()
// says. Requires: `ranks` is not empty.
RunTimes runOf(const std::vector<IterationTimes>& ranks,
               bool byRank,
               std::optional<std::size_t> warmUp);

}  // namespace sonde::engine::diff
