// The forwards and backwards that a job's threads recorded, and the messages between them. Within
// engine/pipeline. Uses the database's thread while it reads; then plain values.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace sonde::engine::pipeline {

// A slice that is a forward or a backward. Times are the job's.
struct Computation {
  graph::LaneIndex lane = 0;
  bool isForward = true;
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
  std::int64_t row = 0;                 // id of the slice
  std::optional<std::size_t> producer;  // whose message it needs, of the same direction
  std::int64_t receiveNs = 0;           // when it began to receive that one
  // From the begin of its send until it had come; nullopt: the receiver asked for it later.
  std::optional<std::int64_t> onItsWayNs;
  std::optional<std::int64_t> sendEndNs;  // when it had sent its own
};

struct Computations {
  std::vector<Computation> all;                                  // by lane, then by begin
  std::map<graph::LaneIndex, std::vector<std::size_t>> ofLanes;  // indices
};

// Without those inside of another one. The sender of a message is the last computation that had
// begun, its receiver the next one to end.
Result<Computations> readComputations(const store::Database& trace, const graph::Graph& graph);

}  // namespace sonde::engine::pipeline
