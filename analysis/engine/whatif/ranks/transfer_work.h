// The processor time that collectives on threads take. Free functions.
#pragma once

#include "analysis/engine/whatif/network/network_model.h"
#include "analysis/engine/whatif/scenario.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

// Besides the time on the network, each of `ranks` works on each transfer that questions made: for
// `share` of the time that the communicator's model of `networks` gives it with `count` ranks. The
// transfer is over when both are. The work is on a thread of the rank. Errors are those of
// Scenario::restructure().
Result<void> addTransferWork(Scenario& scenario,
                             const std::vector<std::int64_t>& ranks,
                             std::int64_t count,
                             const std::map<std::string, NetworkModel>& networks,
                             double share);

}  // namespace sonde::engine::whatif
