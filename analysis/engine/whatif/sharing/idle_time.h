// When no kernel of a job runs on its devices, within iterations and on the schedule as questions
// have left it. Uses the database's thread while it reads; then plain values.
#pragma once

#include "analysis/engine/whatif/compute/device_works.h"
#include "analysis/engine/whatif/scenario.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::engine::whatif {

// The device of each stream, by lane; streams of one device have the same number, also those of
// several processes.
Result<std::unordered_map<graph::LaneIndex, std::int64_t>> devicesOfStreams(
    const store::Database& trace, const graph::Graph& graph);

struct DeviceGap {
  std::int64_t lengthNs = 0;
  graph::NodeIndex next =
      graph::kNoNode;  // the kernel that ends it; kNoNode: none, or a collective
};

// Lengths are means of an iteration, over iterations, ranks and their devices.
struct IdleTime {
  double iterationNs = 0;
  double idleNs = 0;            // in `gaps`
  double shortNs = 0;           // in shorter gaps
  double collectiveNs = 0;      // only collectives run
  std::int64_t typicalNs = 0;   // the median kernel: the shortest of `gaps`
  std::vector<DeviceGap> gaps;  // by device, then by begin
};

// Copies are no kernels: they leave the multiprocessors idle. NotFound: the trace has no kernels,
// or no iterations that have some.
Result<IdleTime> findIdleTime(const store::Database& trace,
                              const Scenario& scenario,
                              const std::vector<DeviceWork>& works);

}  // namespace sonde::engine::whatif
