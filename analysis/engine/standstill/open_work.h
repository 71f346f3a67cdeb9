// Reads calls without an end from a trace, and each process's last collective with one. Plain
// values; reading uses the database's thread.
#pragma once

#include "analysis/engine/standstill/standstill.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::standstill {

// Whether some process may be in the middle of something: the trace has open calls, and a process
// that did not exit by itself.
Result<bool> mayStandStill(const store::Database& trace);

// By process and thread, outermost first. Collectives without an end come last in their process if
// their call has returned, or if the trace has no such call.
Result<std::vector<OpenCall>> readOpenCalls(const store::Database& trace);

// The last one that ended, by process and group; group "" stands for all groups.
using LastCollectives = std::map<std::pair<std::int64_t, std::string>, LastCollective>;
Result<LastCollectives> readLastCollectives(const store::Database& trace);

}  // namespace sonde::engine::standstill
