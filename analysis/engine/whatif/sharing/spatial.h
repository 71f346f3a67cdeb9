// Asks how long an iteration takes if several ranks share each image of a convolutional network,
// and exchange the rows at its cuts (Dryden et al., "Improving Strong-Scaling of CNN Training by
// Exploiting Finer-Grained Parallelism", IPDPS 2019). Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>
#include <optional>

namespace sonde::engine::whatif {

struct Spatial {
  std::int64_t parts = 2;  // ranks that share an image
  // The rows of convolutions' kernels whose weights have no recorded sizes.
  std::int64_t kernel = 3;
  // The links among the ranks that share images; nullopt: as fitted to the job's collectives.
  std::optional<double> bytesPerNs = {};
  std::optional<double> latencyNs = {};  // of one exchange
};

// Operators on images of at least `parts` rows take 1 / parts of their time: their kernels, or the
// threads' time on jobs without devices. Before each convolution, forward and backward, its first
// kernel waits for an exchange of ⌊kernel / 2⌋ rows with each neighbour: α + β · bytes, one after
// the other. Collectives have `parts` times as many ranks. The host's calls stay.
//
// NotFound: the trace has no recorded sizes, no convolutions on images, or no network and none was
// given. InvalidArgument: fewer than two parts, or a setting is not above 0.
Question spatial(Spatial of);

}  // namespace sonde::engine::whatif
