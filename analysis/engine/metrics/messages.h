// Whether the messages of MPI that both ends tell of agree. The thread of the database.
#pragma once

#include "analysis/engine/metrics/traffic.h"

namespace sonde::engine::metrics {

// Adds the connections of MPI: a message is the one that has its tag and its number at the other
// end. `cut`: what one end alone tells of lies where the other was cut.
Result<void> addMessages(const store::Database& trace, bool cut, Conservation& sum);

}  // namespace sonde::engine::metrics
