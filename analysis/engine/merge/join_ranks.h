// What only shows once all ranks lie in one database: which two channel endpoints are one
// connection, and which process is which member of a communicator. Works on a trace that is open
// for writing, on its thread; may be run again.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::merge {

// Fills channel.peer_channel_id. TCP endpoints have local and remote exchanged, UNIX streams and
// pipes name each other's ends; on one host unless the addresses can be reached from another. Where
// addresses were used again, those endpoints belong together that were open at the same time, or
// closest to it: what one sent and closed, the other may have received later. A pipe or a socket
// that several processes hold is paired by the ends that moved bytes.
Result<void> matchChannels(store::Database& trace);

// Fills communicator_member.process_id, from the processes whose communicator has the same job_key,
// size and ordinal.
Result<void> joinCommunicators(store::Database& trace);

}  // namespace sonde::engine::merge
