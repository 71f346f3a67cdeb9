// The collectives of a job, each as all its ranks ran it. Uses the database's thread while it
// reads; then plain values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace sonde::engine::whatif {

// A rank's part of a collective: a call on a thread, or a kernel on a stream.
struct CollectivePart {
  graph::LaneIndex lane = 0;
  std::int64_t beginNs = 0;  // the job's time
  std::int64_t endNs = 0;
  std::int64_t callNs =
      0;  // when the call that launched the kernel began; of a call, its own begin
};

using CollectiveKey = std::tuple<std::string, std::int64_t, std::string>;  // see JobCollective

struct JobCollective {
  std::string communicator;  // the job's key of it
  std::int64_t seq = 0;
  std::string op;
  std::int64_t bytes = 0;
  std::int64_t ranks = 0;  // of the communicator
  std::string type;        // of its numbers, such as "float32"; empty: unknown
  bool isOnDevice = false;
  std::vector<CollectivePart> parts;  // by rank

  CollectiveKey key() const { return {communicator, seq, op}; }
  // The trace has all its ranks.
  bool isComplete() const noexcept { return static_cast<std::int64_t>(parts.size()) == ranks; }
  std::int64_t lastArrivalNs() const noexcept;
  std::int64_t endNs() const noexcept;
};

// By last arrival. Leaves out those without bytes, of one rank, or not ended; and sends and
// receives.
Result<std::vector<JobCollective>> readCollectives(const store::Database& trace,
                                                   const graph::TraceGraph& job);

}  // namespace sonde::engine::whatif
