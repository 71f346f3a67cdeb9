// Divides the time of threads into nodes. Within engine/graph.
#pragma once

#include "analysis/engine/graph/lane_nodes.h"
#include "analysis/engine/graph/resumes.h"
#include "analysis/engine/waits/lanes.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::graph {

// Collects where threads are divided, then adds the nodes of one thread after the other.
class ThreadNodes {
 public:
  // `resumes` as of resumesOf(). Requires: they outlive this.
  ThreadNodes(LaneIndex lanes, const std::vector<Resume>& resumes);

  // Another lane needs the thread to come to this time.
  void need(LaneIndex lane, std::int64_t ns) { needed_[lane].push_back(ns); }
  // The thread gets a node without length, which begins an iteration.
  void mark(LaneIndex lane, std::int64_t ns) {
    cuts_[lane].push_back(ns);
    marked_[lane].push_back(ns);
  }

  // Adds the thread's nodes. A thread that goes on and is needed at the same time gets a node
  // without length there, so that those who need it also need what it waited for.
  void add(const waits::ThreadFacts& thread, LaneNodes& nodes);

 private:
  void sortCuts(LaneIndex lane, std::int64_t begin, std::int64_t end);

  const std::vector<Resume>& resumes_;
  std::vector<std::vector<std::int64_t>> cuts_;    // by lane
  std::vector<std::vector<std::int64_t>> needed_;  // by lane
  std::vector<std::vector<std::int64_t>> marked_;  // by lane
};

}  // namespace sonde::engine::graph
