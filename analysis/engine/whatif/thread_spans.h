// Stretches of threads' time. Plain values; any thread.
#pragma once

#include "analysis/engine/graph/graph.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::engine::whatif {

struct Span {
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
};

// By thread; in the job's time.
class ThreadSpans {
 public:
  void add(graph::LaneIndex lane, const Span& span) { spans_[lane].push_back(span); }
  // Joins spans that overlap. Requires: called after add(), before all others.
  void join();

  // Disjoint, by time; empty: none.
  const std::vector<Span>& of(graph::LaneIndex lane) const;
  bool contains(graph::LaneIndex lane, std::int64_t ns) const;
  // The time that both have.
  ThreadSpans with(const ThreadSpans& other) const;

 private:
  std::unordered_map<graph::LaneIndex, std::vector<Span>> spans_;
};

}  // namespace sonde::engine::whatif
