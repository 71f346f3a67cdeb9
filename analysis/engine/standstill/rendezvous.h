// Finds who is in an open collective and who has not entered it. Plain values; reading uses the
// database's thread.
#pragma once

#include "analysis/engine/standstill/open_work.h"
#include "analysis/engine/standstill/standstill.h"
#include "base/result.h"

#include <vector>

namespace sonde::engine::standstill {

// Returns each collective that a rank is in, without sends and receives. Those that a member has
// not entered come first, then the oldest. `names`: names of processes. `knownUntil`: for running
// processes, the time up to which the trace is complete.
Result<std::vector<Rendezvous>> readRendezvous(
    const store::Database& trace,
    const std::vector<OpenCall>& open,
    const LastCollectives& last,
    const std::map<std::int64_t, std::string>& names,
    const std::map<std::int64_t, std::int64_t>& knownUntil);

// Each circle of threads that wait for each other, once.
std::vector<Deadlock> findDeadlocks(const std::vector<OpenCall>& open);

}  // namespace sonde::engine::standstill
