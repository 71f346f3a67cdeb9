// Asks how long an iteration takes if gradients are reduced until the next forward pass needs them,
// the first layers' ones first (Jayarajan et al., "Priority-based Parameter Propagation for
// Distributed DNN Training", 2019; Peng et al., "A Generic Communication Scheduler for Distributed
// DNN Training Acceleration", 2019). Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::whatif {

// A piece of a bucket to reduce: `bucket` is its place in the order in which buckets are ready.
struct PieceToReduce {
  std::size_t bucket = 0;
  std::int64_t readyNs = 0;
  double ns = 0;
};

// The order in which one network reduces the pieces: whenever it is free, the piece of the last
// bucket that is ready, since the next forward pass needs it first. `pieces` by bucket. Returns
// indices.
std::vector<std::size_t> priorityOrder(const std::vector<PieceToReduce>& pieces);

struct NextForward {
  std::optional<std::int64_t> pieceBytes = {};  // buckets are divided at this size; nullopt: not
};

// Layers of the next forward pass, on devices, wait for their own gradients and optimizer alone.
// NotFound: the trace has no such buckets, passes or optimizers. InvalidArgument: a piece has less
// than one byte.
Question nextForward(NextForward of);

}  // namespace sonde::engine::whatif
