// The dependencies between the operations of one step, and which operations begin together.
// Plain values; any thread.
//
// Source: "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI'25),
// section 3, and its artifact's published replays, which these rules reproduce. Forwards and
// backwards of a worker follow each other; so do its sends and its receives of a direction, and
// its data-parallel collectives.
#pragma once

#include "analysis/engine/operations/operation_rows.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::operations {

struct Need {
  std::uint32_t from = 0;  // indices in the step
  std::uint32_t to = 0;
  bool isOrder = false;  // the same stream did it before; else `to` uses the result of `from`
};

struct StepNeeds {
  std::vector<Need> needs;
  // Operations that begin when all of them can: a send with its receive, a collective.
  std::vector<std::vector<std::uint32_t>> meetings;
  // By operation. Sends and receives at an end of the pipeline have no partner and are left out.
  std::vector<bool> isLeftOut;
  std::int64_t unpaired = 0;  // other sends and receives without a partner; left out, too
};

StepNeeds needsOf(const OperationRows& rows, const Step& step);

}  // namespace sonde::engine::operations
