// Names in the rows of a breakdown. Pure functions.
#pragma once

#include "analysis/engine/breakdown/breakdown.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::cli {

// The processes of a job by id. Views of `result`.
using BreakdownProcesses = std::map<std::int64_t, const engine::breakdown::ProcessTotal*>;
BreakdownProcesses processesOf(const engine::breakdown::Breakdown& result);

// By id: "rank 3", "process 4711"; both if the rank has helpers, such as a DataLoader's workers. If
// several have one pid, also the host, the command or, if these are equal, the id.
using ProcessNames = std::map<std::int64_t, std::string>;
ProcessNames namesOf(const engine::breakdown::Breakdown& result);

// "backward + forward"; "-" for an empty set.
std::string joined(const std::vector<std::string>& names);

}  // namespace sonde::cli
