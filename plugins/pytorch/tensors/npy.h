// A tensor's elements as a file of NumPy's (.npy, format 1.0), appended to one that may hold more.
// Plain functions; any thread.
#pragma once

#include "plugins/pytorch/tensors/strided.h"

#include <cstdint>

namespace sonde::torch {

// Where in `file`, which is open for writing, it begins; a negated errno when it cannot be written,
// and then what there is of it is cut off again. Elements of type Bfloat16 are written as the
// integers that their bits make.
std::int64_t appendNpy(int file, const Strided& tensor);

}  // namespace sonde::torch
