// The part of a side's times that a baseline keeps, so that a file of it stays small. A comparison
// with it gives the same verdicts, whether it comes from such a file or from traces. Pure
// functions; any thread.
#pragma once

#include "analysis/engine/diff/run_times.h"
#include "analysis/engine/diff/subject.h"

#include <cstddef>
#include <vector>

namespace sonde::engine::diff {

inline constexpr std::size_t kMostBaselineRuns = 30;
inline constexpr std::size_t kMostBaselineIterations = 300;  // of a run: the last ones
inline constexpr std::size_t kMostBaselineSubjects = 40;     // of a kind: those that take most time

// Times in whole nanoseconds, without the recorded ones, and with the mean error of each subject.
// Drops what is beyond the limits above, except for the number of runs.
std::vector<RunTimes> boundedRuns(std::vector<RunTimes> runs);

// Only subjects that these dimensions observe.
std::vector<RunTimes> observedOnly(std::vector<RunTimes> runs, const Dimensions& by);

}  // namespace sonde::engine::diff
