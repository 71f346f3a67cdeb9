// Device time by the operation that launched the work, and by kernel. Within engine/diff.
#pragma once

#include "analysis/engine/diff/ledger.h"
#include "analysis/engine/metrics/clock.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <vector>

namespace sonde::engine::diff {

// Adds Compute, Copy, Comm and Kernel to the ledger, as far as `by` requests them, by each of
// `clocks`.
Result<void> addDeviceTimes(const store::Database& trace,
                            const Dimensions& by,
                            const std::vector<metrics::Clock>& clocks,
                            Ledger& ledger);

}  // namespace sonde::engine::diff
