// The question how long a job would take on nodes of several ranks, with links inside of a node and
// NICs between nodes. Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "analysis/engine/whatif/topology/two_levels.h"

#include <cstdint>
#include <optional>

namespace sonde::engine::whatif {

struct Topology {
  std::int64_t perNode = 1;                          // ranks
  double insideBytesPerNs = 0;                       // of a rank's link, each way
  double betweenBytesPerNs = 0;                      // of a NIC, each way
  std::int64_t nics = 1;                             // of a node
  std::optional<std::int64_t> insideLatencyNs = {};  // of a step; empty: as the job's own
  std::optional<std::int64_t> betweenLatencyNs = {};
  std::optional<Algorithm> algorithm = {};  // empty: for each collective the fastest
};

// InvalidArgument: a number is not above 0.
Result<void> checkTopology(const Topology& of);

// Ranks fill nodes in their order, and each collective takes the time of two_levels.h. A latency
// that is not given is that of the model that is fitted to the job's own collectives. NotFound: the
// trace has no collectives whose ranks are all known. InvalidArgument: a number is not above 0, or
// the ranks do not fill the nodes.
Question topology(Topology of);

}  // namespace sonde::engine::whatif
