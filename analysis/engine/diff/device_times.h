// What devices did, by the operation that launched it and by kernel. Within engine/diff.
#pragma once

#include "analysis/base/result.h"
#include "analysis/engine/diff/ledger.h"
#include "analysis/store/database.h"

namespace sonde::engine::diff {

// Puts Compute, Copy, Comm and Kernel down, as far as `by` asks for them.
Result<void> addDeviceTimes(const store::Database& trace, const Dimensions& by, Ledger& ledger);

}  // namespace sonde::engine::diff
