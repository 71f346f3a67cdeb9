// Finds the slices inside the ranges of a thread, by time. Within engine/summaries.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <string_view>

namespace sonde::engine::metrics {

// Makes two temporary tables of this connection. held(range_id, slice_id): each range with the
// slices that its thread began and ended in it; if two have the same extent, the outer one holds
// the other. held_range(id, level, children): each range with the number of ranges around it, and
// the number of ranges directly inside. `slices`: a query for (id, is_range) of the slices to
// consider. One pass over them in order of time; memory grows with the simultaneously open ranges.
Result<void> makeHeldSlices(const store::Database& trace, std::string_view slices);

}  // namespace sonde::engine::metrics
