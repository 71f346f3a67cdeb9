// How long the iterations of a job are in a long run, for notes about throughput. Uses the
// database's thread while a question is asked; then plain values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/replay/replay.h"
#include "analysis/engine/whatif/compute/device_works.h"
#include "analysis/engine/whatif/question.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::whatif {

// A thread whose waits for its device are not in the trace seems to go on at once, however long its
// kernels take. In a long run it cannot be faster than they are.
class LongRun {
 public:
  // The kernels and copies that each iteration launches.
  LongRun(const Scenario& scenario, const std::vector<DeviceWork>& works);

  // The mean iteration as measured, or streamNs() of then if that is longer.
  double measuredNs() const noexcept { return measuredNs_; }
  // The mean time of that work as it is now, on the busiest stream of each rank. 0: none.
  double streamNs(const Scenario& scenario) const;
  // The mean iteration as it is now, or `jobs` times streamNs() if that is longer; then it adds a
  // note. For Asking::afterwards.
  double iterationNs(Asking& asking, int jobs = 1) const;
  // Adds that note behind all questions.
  void noteAfterwards(Asking& asking) const;

 private:
  struct StreamWork {
    std::uint32_t iteration = 0;
    graph::LaneIndex stream = 0;
    graph::NodeIndex node = 0;
  };
  double streamNs(const graph::Graph& graph, const std::vector<std::int64_t>& durNs) const;

  std::vector<StreamWork> works_;
  double measuredNs_ = 0;
};

}  // namespace sonde::engine::whatif
