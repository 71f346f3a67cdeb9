// Who is in an open collective, and who has not entered it. Plain values; reading uses the
// database's thread.
#pragma once

#include "analysis/engine/standstill/open_work.h"
#include "analysis/engine/standstill/standstill.h"
#include "base/result.h"

#include <vector>

namespace sonde::engine::standstill {

// Of each collective that a rank is in, but not of sends and receives; those that somebody has not
// entered first, then the oldest. `names`: what processes are called; `knownUntil`: of those that
// run, until when the trace has all of them.
Result<std::vector<Rendezvous>> readRendezvous(
    const store::Database& trace,
    const std::vector<OpenCall>& open,
    const LastCollectives& last,
    const std::map<std::int64_t, std::string>& names,
    const std::map<std::int64_t, std::int64_t>& knownUntil);

// Each circle of threads that wait for each other, once.
std::vector<Deadlock> findDeadlocks(const std::vector<OpenCall>& open);

}  // namespace sonde::engine::standstill
