// The question how long an iteration would take if gradients were combined by Adasum. Free
// functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <optional>

namespace sonde::engine::whatif {

struct Adasum {
  // How fast dot products and sums read and write memory. Empty: memorySpeed().
  std::optional<double> bytesPerNs = {};
};

// In bytes per nanosecond. An assumption: 10 GB/s on processors, 1 TB/s on devices.
double memorySpeed(bool isOnDevice);

// Each bucket of S bytes is halved and exchanged log₂ n times, and doubled as often: as many bytes
// as an all-reduce sends. At each of the first log₂ n steps an all-reduce of three numbers among
// 2, 4, …, n ranks follows, and the two halves are read twice and written once (Maleki et al.,
// "Scaling Distributed Training with Adaptive Summation", 2021, section 4). NotFound: the trace has
// no buckets that are all-reduces. InvalidArgument: the number of ranks is no power of two, or the
// speed is not above 0.
Question adasum(Adasum of);

}  // namespace sonde::engine::whatif
