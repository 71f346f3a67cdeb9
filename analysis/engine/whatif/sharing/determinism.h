// Asks what deterministic algorithms cost, as with torch.use_deterministic_algorithms(True). Plain
// functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <optional>

namespace sonde::engine::whatif {

struct Determinism {
  // How many times as long the slower kernels take; nullopt: by slowDownOf().
  std::optional<double> factor = {};
  // The same for backward passes of convolutions whose names do not say their algorithm.
  double convolutions = 1;
};

// Kernels whose deterministic form is slower take longer; the rest, and the host, stays. If the job
// has none of them, nothing changes and a note says so: names are known for all kernels, so this is
// an answer. NotFound: the trace has no kernels. InvalidArgument: a factor is below 1.
Question determinism(Determinism of);

}  // namespace sonde::engine::whatif
