// The parallel axes of a job, and the nodes of its ranks if other axes vary fastest. Plain values;
// any thread.
#pragma once

#include "analysis/engine/whatif/topology/node_groups.h"
#include "base/result.h"

#include <compare>
#include <cstdint>
#include <vector>

namespace sonde::engine::whatif {

// Ranks that differ in this axis alone are `stride` apart, and there are `ranks` of them.
struct Axis {
  std::int64_t stride = 1;
  std::int64_t ranks = 1;

  auto operator<=>(const Axis&) const = default;
};

// By stride. Communicators whose members are evenly apart show them, if all that are alike have all
// ranks together; an axis that no communicator shows lies between two others. NotFound: the
// communicators do not divide the ranks into axes.
Result<std::vector<Axis>> axesOf(const NodeGroups& groups);

// The node of each rank, where the first axis of `order` varies fastest over the places of the
// nodes. Requires: `order` has all axes of the job, and nodes have the same number of places.
std::vector<std::int64_t> nodesByOrder(const std::vector<Axis>& order,
                                       std::int64_t ranks,
                                       std::int64_t perNode);

}  // namespace sonde::engine::whatif
