// Asks how long an iteration takes if branches of a model run beside each other, on streams of
// their own (Ding et al., "IOS: Inter-Operator Scheduler for CNN Acceleration", 2021, section 3).
// Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>
#include <string>

namespace sonde::engine::whatif {

struct Streams {
  std::string branches;    // a glob: names of modules, operators or annotations
  std::int64_t count = 2;  // of streams
};

// Slices of these names that follow each other inside of the same slice are branches, and outside
// of any those of the same iteration: the kernels of one do not need those of another. NotFound:
// there are no two such branches with kernels that follow each other on a stream, or the trace
// shows that one needs another. InvalidArgument: fewer than two streams.
Question streams(Streams of);

}  // namespace sonde::engine::whatif
