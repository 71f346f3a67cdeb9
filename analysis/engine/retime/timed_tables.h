// The tables whose rows move with their thread or process. Within engine/retime.
#pragma once

#include "analysis/engine/retime/row_times.h"
#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::retime {

// Moves the times of all rows but those of slices, device work, collectives and iterations.
// Requires: the slices still have their measured times.
Result<void> moveTables(store::Database& trace, const RowTimes& times);

}  // namespace sonde::engine::retime
