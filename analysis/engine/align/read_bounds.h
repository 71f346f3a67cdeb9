// Reads from a trace what bounds the clocks of its hosts: messages, bytes of connections and
// collectives between ranks of different hosts. The database's thread.
#pragma once

#include "analysis/engine/align/host_bounds.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>

namespace sonde::engine::align {

using HostIndexes = std::unordered_map<std::int64_t, HostIndex>;  // by host.id

// MPI messages match by tag and number, bytes of other connections by offset. Transfers with an
// inexact offset, and those of inherited channels, are ignored. Takes 40 bytes for each send to
// another host. Requires: the ends of channels have been matched.
Result<void> readMessages(const store::Database& trace,
                          const HostIndexes& hosts,
                          HostBounds& bounds);

// No rank's part ends before the ranks that it needs have begun theirs. If all need each other,
// their parts end together. The times are those of the kernel, if the collective has one.
Result<void> readCollectives(const store::Database& trace,
                             const HostIndexes& hosts,
                             HostBounds& bounds);

}  // namespace sonde::engine::align
