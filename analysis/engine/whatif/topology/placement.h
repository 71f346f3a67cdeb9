// The question how long a job would take if its ranks were placed on nodes in another order. Free
// functions.
#pragma once

#include "analysis/engine/whatif/topology/topology.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::whatif {

struct Placement {
  Topology topology = {};
  // The axes, each by how far its ranks are apart, that which varies fastest first. Empty: the
  // order with which an iteration is shortest.
  std::vector<std::int64_t> order = {};
};

// The parallel axes follow from the communicators. Collectives take the time that topology() gives
// them on the nodes of that order (Xie et al., "Synthesizing optimal parallelism placement and
// reduction strategies on hierarchical systems for deep learning", 2022, section 3). NotFound: as
// topology(), or the communicators do not form axes. InvalidArgument: as topology(), or the order
// does not have each axis once.
Question placement(const Placement& of);

}  // namespace sonde::engine::whatif
