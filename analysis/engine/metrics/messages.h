// Whether both ends of MPI connections recorded the same messages. The thread of the database.
#pragma once

#include "analysis/engine/metrics/traffic.h"

namespace sonde::engine::metrics {

// Adds MPI's connections to `sum`. Messages at both ends match by tag and number. `cut`: messages
// that only one end has lie where the other end was cut off.
Result<void> addMessages(const store::Database& trace, bool cut, Conservation& sum);

}  // namespace sonde::engine::metrics
