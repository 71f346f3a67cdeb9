// The runs of one side of `sonde diff`, of the traces and folders that the user names. Free
// functions; the verb's thread.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace sonde::cli {

// The traces of one job: one, or one of each rank.
using RunFiles = std::vector<std::string>;

// A word is a trace, or a folder: then all traces in it, or, where there is none, those in its
// folders. Traces of different ranks that were recorded at the same time and do not contradict each
// other are one run; all others are each a run. NotFound: a folder without any. InvalidArgument:
// two hold the same processes.
Result<std::vector<RunFiles>> runsOf(const std::vector<std::string>& words);

}  // namespace sonde::cli
