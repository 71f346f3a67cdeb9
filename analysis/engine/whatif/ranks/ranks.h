// The question how long an iteration would take on more or fewer data-parallel ranks. Free
// functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>
#include <optional>

namespace sonde::engine::whatif {

enum class Batch : std::uint8_t {
  OfRank,  // each rank keeps its batch
  Global,  // all ranks together keep theirs
};

struct Ranks {
  std::int64_t count = 1;
  Batch batch = Batch::OfRank;
  // A host's processors; empty: as many as now. Unknown ones do not limit a job.
  std::optional<std::int64_t> processors = {};
};

// The job gets `count` ranks. Rank k is a copy of the measured rank k modulo their number, also in
// what other questions change. InvalidArgument: fewer than one rank or processor, or the job was
// asked for another number before. NotFound: the trace does not show a data-parallel job with all
// its ranks.
Question ranks(Ranks of);

}  // namespace sonde::engine::whatif
