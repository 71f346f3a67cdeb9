// The state of a job in dumps of PyTorch's NCCL flight recorder: what each rank had not finished,
// who had not entered it, and who is behind. Plain values; reading uses the database's thread.
//
// A dump has no time of writing. PyTorch writes it when a collective has timed out, so the job is
// taken to stand still.
#pragma once

#include "analysis/engine/standstill/standstill.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <optional>

namespace sonde::engine::standstill {

// Whether the trace was imported from such dumps.
Result<bool> holdsDumps(const store::Database& trace);

// Requires: holdsDumps(). Unset: no rank has an unfinished collective, send or receive. All ranks
// with a dump are in `ranks`; `untilNs` is the time of the latest entry.
Result<std::optional<Standstill>> readDumps(const store::Database& trace);

}  // namespace sonde::engine::standstill
