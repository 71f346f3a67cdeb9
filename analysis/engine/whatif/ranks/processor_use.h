// When the threads of ranks used processors, and how much of one each had. Plain values; any
// thread.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/thread_spans.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {

// A stretch of a node's measured time.
struct Busy {
  graph::NodeIndex node = 0;
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
  bool isTransfer = false;  // it moves the data of collectives
};

// The calls of collectives on threads.
ThreadSpans callsOf(const std::vector<JobCollective>& all);

// When threads of ranks had something to do. `movesData`: threads move the data of collectives,
// else their calls only wait.
std::vector<Busy> busyTimes(const graph::Graph& graph, const ThreadSpans& calls, bool movesData);

// How many threads of one host or rank were busy at once, and the processor time that each had if
// they shared so many processors evenly; 0 processors: all that they need.
class ProcessorUse {
 public:
  explicit ProcessorUse(std::int64_t processors) : processors_(processors) {}

  void add(const Busy& busy);
  // Requires: called after add(), before all others.
  void complete();

  std::int64_t most() const noexcept { return most_; }
  double processorNs(const Busy& busy) const {
    return until(busy.endNs).hadNs - until(busy.beginNs).hadNs;
  }
  // How long a processor was free, from `beginNs` to `endNs`.
  double freeNs(std::int64_t beginNs, std::int64_t endNs) const {
    return until(endNs).freeNs - until(beginNs).freeNs;
  }

 private:
  // Since the first change.
  struct Sums {
    std::int64_t ns = 0;
    double hadNs = 0;
    double freeNs = 0;
    double share = 1;  // until the next change
    bool isFree = true;
  };
  Sums until(std::int64_t ns) const;

  std::int64_t processors_;
  std::int64_t most_ = 0;
  std::vector<std::pair<std::int64_t, int>> changes_;  // of the number of busy threads
  std::vector<Sums> sums_;                             // at each change
};

}  // namespace sonde::engine::whatif
