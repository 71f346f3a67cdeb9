// Ties each backward function of autograd to the operator that made its node.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::store {

// Writes `link` rows of the kind `fwdbwd`, from the operator to the backward function, out of the
// arguments `autograd_node` and `backward_of`. Of the operators that were told the same node it is
// the one that began last: they are told the next node, whether they make it or call what does.
Result<void> linkBackward(Database& trace);

}  // namespace sonde::store
