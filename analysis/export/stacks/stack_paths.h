// Samples of threads' stacks as paths of frames, for folded stacks and flame graphs.
#pragma once

#include "analysis/export/path_tree.h"
#include "analysis/model/code.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <span>

namespace sonde::exports {

// Below a frame for the process ("rank 0") and, with `byThread`, one for the thread. A function of
// Python is "name (file.py:12)". "[truncated]" stands for outer frames that are missing.
Result<PathTree> stackPaths(const store::Database& trace,
                            std::span<const model::StackTime> times,
                            bool byThread);

}  // namespace sonde::exports
