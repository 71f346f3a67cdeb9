// Links each backward function of autograd to the operator that created its node.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::store {

// Writes `link` rows of the kind `fwdbwd`, from the operator to the backward function, from the
// arguments `autograd_node` and `backward_of`. If several operators have the same node, the one
// that began last is linked: each gets the next node's number, whether it creates the node or calls
// what does.
Result<void> linkBackward(Database& trace);

}  // namespace sonde::store
