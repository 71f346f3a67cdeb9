// Groups traces and folders of one side of a comparison into runs, and reads their times. Free
// functions; the databases' thread.
#pragma once

#include "analysis/engine/diff/iteration_times.h"
#include "analysis/engine/diff/run_times.h"
#include "base/progress.h"
#include "base/result.h"

#include <functional>
#include <string>
#include <vector>

namespace sonde::engine::diff {

// The traces of one job: a single one, or one per rank.
using RunFiles = std::vector<std::string>;

// A word is a trace or a folder. A folder stands for all traces in it or, if it has none, those in
// its subfolders. Traces of different ranks that were recorded at the same time and do not
// contradict each other form one run; each other trace is a run. NotFound: a folder has no traces.
// InvalidArgument: two traces have the same processes.
Result<std::vector<RunFiles>> runsOf(const std::vector<std::string>& words);

// Reads the times of one trace.
using ReadTrace = std::function<Result<std::vector<IterationTimes>>(const std::string& path)>;

// Reads each run, trace by trace: they need not be merged. `byRank` and `choice` as in runOf().
// NotFound: a run has no iterations, or none of the chosen ones. Messages name the trace.
Result<std::vector<RunTimes>> readRuns(const std::vector<RunFiles>& runs,
                                       const ReadTrace& readTrace,
                                       bool byRank,
                                       const IterationChoice& choice,
                                       const Progress& progress = {});

}  // namespace sonde::engine::diff
