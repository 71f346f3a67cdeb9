// The floating point operations of iterations, where the program has not told them but its
// operators' shapes were recorded.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::store {

// Fills in `iteration.flops` where it is NULL: what the matrix products, convolutions and
// attentions begun in it, and in those that lie within it, take (of one of these that the program
// has told, what it told), forward and backward, a multiplication and an addition counting as
// two. Of a convolution the forward part is counted with its backward, whose arguments alone tell
// the size of the result, and both gradients are. docs/python.md says which operators these are.
Result<void> countOperatorFlops(Database& trace);

}  // namespace sonde::store
