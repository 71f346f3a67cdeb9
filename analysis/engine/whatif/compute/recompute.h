// Asks how long an iteration takes if activations are not kept, but computed again (Chen et al.,
// "Training Deep Nets with Sublinear Memory Cost", 2016, section 4). Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "analysis/engine/whatif/selector.h"

#include <optional>

namespace sonde::engine::whatif {

struct Recompute {
  double share = 1;                   // of the forward pass that runs again
  std::optional<Selector> only = {};  // of the selected forward work; nullopt: of all
};

// The work runs again during the backward pass, spread evenly over it. NotFound: the trace shows no
// passes. InvalidArgument: the share is not between 0 and 1.
Question recompute(Recompute of);

}  // namespace sonde::engine::whatif
