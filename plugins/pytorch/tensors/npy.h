// Appends a tensor's elements as a NumPy file (.npy, format 1.0) to a file that may contain more.
// Plain functions; any thread.
#pragma once

#include "plugins/pytorch/tensors/strided.h"

#include <cstdint>

namespace sonde::torch {

// Returns where in `file`, which is open for writing, it begins. Returns a negated errno if it
// cannot be written; the written part is then removed. Elements of type Bfloat16 are written as
// integers with the same bits.
std::int64_t appendNpy(int file, const Strided& tensor);

}  // namespace sonde::torch
