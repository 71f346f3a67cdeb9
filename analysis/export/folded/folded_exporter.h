// Thread time as folded stacks: a line "process;thread;outer;inner 1234" for each path of nested
// slices, with the nanoseconds outside of inner slices. For flamegraph.pl, speedscope, inferno and
// the like.
#pragma once

#include "analysis/export/output_file.h"
#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"

namespace sonde::exports {

// Lines as PathTree writes them. Memory grows with the number of different paths.
Result<void> exportFolded(const store::Database& trace,
                          OutputFile& output,
                          const Progress& progress = {});

}  // namespace sonde::exports
