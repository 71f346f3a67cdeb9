// Which slices the ranges of a thread hold, in time. Within engine/metrics.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <string_view>

namespace sonde::engine::metrics {

// Makes two temporary tables of this connection. held(range_id, slice_id): each range with the
// slices that its thread began and ended in it; of two of the same extent the outer one holds the
// other. held_range(id, level, children): each range with the number of ranges that hold it, and of
// those it holds that are one level deeper.
// `slices`: a query for (id, is_range) of those that are looked at. One pass over them in order of
// time; memory grows with the ranges that are open at once.
Result<void> makeHeldSlices(const store::Database& trace, std::string_view slices);

}  // namespace sonde::engine::metrics
