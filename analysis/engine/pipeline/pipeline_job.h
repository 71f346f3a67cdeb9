// The work of the stages of a pipeline-parallel job, as recorded. Plain values; any thread.
//
// A *copy* of the model is a pipeline: ranks that pass microbatches on to each other. A *run* is
// the pipelined part of one stage's iteration, from its first forward to its last backward.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/engine/pipeline/schedules.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sonde::engine::pipeline {

// A duration as it is now, and the id of the slice that it comes from; 0: none.
struct Span {
  double ns = 0;
  std::int64_t row = 0;
};

// A forward or backward of one microbatch.
struct StageOperation {
  Turn turn;
  Span own;                     // the stage's own time
  std::optional<Span> send;     // of the message with its result; nullopt: it sends none
  std::optional<Span> receive;  // of the message that it needs; nullopt: none, or not a span
};

constexpr std::int64_t kAllChunks = -1;

// Forwards of the chunk need this node; kAllChunks: the run does.
struct Entry {
  graph::NodeIndex node = 0;
  std::int64_t lagNs = 0;
  std::int64_t chunk = kAllChunks;
};
// This node needs the last backward of the chunk; kAllChunks: the run.
struct Exit {
  graph::NodeIndex node = 0;
  std::int64_t chunk = kAllChunks;
};
// Some of a node's measured time.
struct Stretch {
  graph::NodeIndex node = 0;
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
};

struct StageRun {
  std::vector<StageOperation> operations;  // in the order in which they ran
  std::vector<Entry> entries;
  std::vector<Exit> exits;
  std::vector<Stretch> inside;   // time of the run
  std::vector<Stretch> outside;  // time of the rest of the iteration that depends on the layers
  std::int64_t beginNs = 0;
};

struct PipelineIteration {
  std::vector<std::vector<StageRun>> runs;  // by copy, then by stage
  // Nodes at which the iteration begins and ends for all; kNoNode: it has none.
  graph::NodeIndex begin = graph::kNoNode;
  graph::NodeIndex end = graph::kNoNode;
};

struct PipelineJob {
  // A send and its receive are spans that begin together; else a message is a call of the sender
  // and a time on its way.
  bool hasTransfers = false;
  Shape shape;
  std::vector<std::vector<graph::Lane>> lanes;  // that compute; by copy, then by stage
  std::vector<PipelineIteration> iterations;    // by time
  // How long after the begin of its send a message arrives, by copy and by stages: from, to.
  std::vector<std::map<std::pair<std::int64_t, std::int64_t>, double>> lagNs;
  std::vector<bool> dropped;  // by edge of the scenario: what the runs waited for

  std::size_t copies() const noexcept { return lanes.size(); }
};

// The schedule that all runs have; nullopt: another one.
std::optional<Schedule> scheduleOf(const PipelineJob& job);

}  // namespace sonde::engine::pipeline
