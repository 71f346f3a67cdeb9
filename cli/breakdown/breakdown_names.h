// How the rows of a breakdown call things. Pure functions.
#pragma once

#include "analysis/engine/breakdown/breakdown.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::cli {

// The processes of a job by id: what a row says of its own. Views of `result`.
using BreakdownProcesses = std::map<std::int64_t, const engine::breakdown::ProcessTotal*>;
BreakdownProcesses processesOf(const engine::breakdown::Breakdown& result);

// By id: "rank 3", "process 4711"; of a rank with helpers, as the workers of a DataLoader, both. Of
// several with one pid also the host, the command or, where these are the same, the id.
using ProcessNames = std::map<std::int64_t, std::string>;
ProcessNames namesOf(const engine::breakdown::Breakdown& result);

// "backward + forward"; "-": none.
std::string joined(const std::vector<std::string>& names);

}  // namespace sonde::cli
