// Groups the traces and folders of one side of `sonde diff` into runs. Free functions; the verb's
// thread.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace sonde::cli {

// The traces of one job: a single one, or one per rank.
using RunFiles = std::vector<std::string>;

// A word is a trace or a folder. A folder stands for all traces in it or, if it has none, those in
// its subfolders. Traces of different ranks that were recorded at the same time and do not
// contradict each other form one run; each other trace is a run. NotFound: a folder has no traces.
// InvalidArgument: two traces have the same processes.
Result<std::vector<RunFiles>> runsOf(const std::vector<std::string>& words);

}  // namespace sonde::cli
