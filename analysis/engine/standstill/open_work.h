// Reads from a trace which calls have no end, and each process's last collective that has one.
// Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/standstill/standstill.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::standstill {

// Whether any process may be in the middle of something: the trace has open calls, and a process
// that did not end by itself.
Result<bool> mayStandStill(const store::Database& trace);

// By process and thread, the outermost first. Collectives without an end whose call has returned,
// or of which the trace has nothing else, stand last in their process.
Result<std::vector<OpenCall>> readOpenCalls(const store::Database& trace);

// By process and group, the last that ended; of group "" the last of all.
using LastCollectives = std::map<std::pair<std::int64_t, std::string>, LastCollective>;
Result<LastCollectives> readLastCollectives(const store::Database& trace);

}  // namespace sonde::engine::standstill
