// Samples of threads' stacks as paths of frames, for folded stacks and flame graphs.
#pragma once

#include "analysis/export/path_tree.h"
#include "analysis/model/code.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <span>

namespace sonde::exports {

// The first frame is the process ("rank 0"); with `byThread` the second is the thread. A Python
// function is "name (file.py:12)". "[truncated]" stands for missing outer frames.
Result<PathTree> stackPaths(const store::Database& trace,
                            std::span<const model::StackTime> times,
                            bool byThread);

}  // namespace sonde::exports
