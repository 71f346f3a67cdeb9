// How the bytes of collectives move between the threads of ranks, where a library has a thread of
// its own that serves the sockets, as Gloo does. The trace shows that thread's transfers, but not
// its polls, nor for whom it works. The waits that follow from that are apart from readWaits(),
// which reports what was recorded. Uses the database's thread.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/waits/waits.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>

namespace sonde::engine::waits {

// The threads that serve collectives, with the name of one of these, of table string.
using ServingThreads = std::unordered_map<std::int64_t, std::int64_t>;

// A thread serves collectives if it runs none itself and uses a socket that another thread of its
// process uses in a collective. Adds these waits to `into`:
//  - A serving thread that was idle before a receive waited for the sender, and the bytes were on
//    their way since the begin of their send: that is the lag.
//  - One that was idle before a send waited for the thread that runs the collective, if that did
//    something just before; else for the socket, which counts as its own time.
//  - A thread that runs a collective waits, between its own transfers and at its end, for the last
//    transfer of the serving thread before.
// Takes from `into` that serving threads follow the driver of their process in these pauses.
// `lanes` as of readLanes(), `clock` as of readWaits().
Result<ServingThreads> addCollectiveBytes(const store::Database& trace,
                                          Lanes& lanes,
                                          const align::JobClock& clock,
                                          Waits& into);

}  // namespace sonde::engine::waits
