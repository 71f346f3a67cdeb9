// Finds relations that need all ranks in one database: which two channel endpoints form a
// connection, and which process is which member of a communicator. Works on a trace that is open
// for writing, on its thread; may be run again.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::merge {

// Fills channel.peer_channel_id. TCP endpoints match with local and remote address swapped; UNIX
// streams and pipes name each other's ends. Both ends are on one host unless the addresses can be
// reached from others. If addresses were reused, endpoints that were open at the same time belong
// together, or those closest in time: one may send and close before the other receives. If several
// processes hold a pipe or socket, the ends that moved bytes are paired.
Result<void> matchChannels(store::Database& trace);

// Fills communicator_member.process_id, from the processes whose communicator has the same job_key,
// size and ordinal.
Result<void> joinCommunicators(store::Database& trace);

}  // namespace sonde::engine::merge
