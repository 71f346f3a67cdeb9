// The communicators of a job by their role in its parallel training. Uses the database's thread
// while it reads; then plain values.
//
// Ranks are numbered as Megatron-LM and most others do: tensor-parallel ranks are neighbours, and
// the data-parallel copies of a part of the model are as many ranks apart as a copy has
// tensor-parallel ranks. Communicators of any other form have no role.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::pipeline {

struct ParallelGroup {
  std::int64_t ranks = 1;  // of each of its communicators; 1: the job has none
  std::int64_t communicators = 0;
  std::vector<std::size_t> collectives;  // indices of ParallelGroups::all
};

struct ParallelGroups {
  std::vector<whatif::JobCollective> all;  // by last arrival
  ParallelGroup tensor;
  ParallelGroup data;
};

Result<ParallelGroups> readGroups(const store::Database& trace, const graph::TraceGraph& job);

}  // namespace sonde::engine::pipeline
