// What devices did, by the operation that launched it and by kernel. Within engine/diff.
#pragma once

#include "analysis/engine/diff/ledger.h"
#include "analysis/engine/metrics/clock.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <vector>

namespace sonde::engine::diff {

// Puts Compute, Copy, Comm and Kernel down, as far as `by` asks for them, by each of `clocks`.
Result<void> addDeviceTimes(const store::Database& trace,
                            const Dimensions& by,
                            const std::vector<metrics::Clock>& clocks,
                            Ledger& ledger);

}  // namespace sonde::engine::diff
