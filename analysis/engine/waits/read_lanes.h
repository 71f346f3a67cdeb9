// Reads the lanes of a trace. Uses the database's thread.
#pragma once

#include "analysis/engine/waits/lanes.h"
#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::waits {

// The threads and streams of a trace, with `ThreadFacts::ends`. The driver of a process is its
// thread with iterations, else its first one, else the one that recorded most. Corrupt: a time is
// not valid.
Result<Lanes> readLanes(const store::Database& trace);

}  // namespace sonde::engine::waits
