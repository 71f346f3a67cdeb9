// Counts the floating point operations of iterations from recorded operator shapes, if the program
// did not report them.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::store {

// Fills in `iteration.flops` if it is NULL: the matrix products, convolutions and attentions that
// begin in the iteration or in inner ones (for an inner one with the program's number: that
// number). Counts forward and backward; a multiplication and an addition count as two. A
// convolution's forward part is counted with its backward, since only that has the size of the
// result; both gradients are counted. docs/python.md lists the operators.
Result<void> countOperatorFlops(Database& trace);

}  // namespace sonde::store
