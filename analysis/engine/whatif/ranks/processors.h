// The processors of hosts, which their ranks share. Uses the database's thread while it reads;
// then plain values.
#pragma once

#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/question.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::whatif {

// Which hosts the ranks have, and how many processors these have.
struct Processors {
  std::vector<std::uint32_t> hostOfRank;     // by place of the rank in the new job
  std::vector<std::int64_t> ofHost;          // 0: unknown, which limits nothing
  std::vector<std::uint32_t> nowHostOfRank;  // when measured
  std::vector<std::int64_t> nowOfHost;
  bool moveData = false;  // they move the data of collectives: through sockets
};

// With devices `count` ranks have as many hosts as they need with as many ranks each as now.
// Without devices they share the present hosts evenly. `processors`: of each host in place of the
// trace's.
Result<Processors> readProcessors(const store::Database& trace,
                                  const graph::TraceGraph& job,
                                  const std::vector<std::int64_t>& ranks,
                                  std::int64_t count,
                                  std::optional<std::int64_t> processors);

// Completes a job, of which `ranks` were measured: drops some, or adds copies. Where threads are
// busy more at a time than their host has processors, they take turns. Where the measured ones
// already did, their times are first made as short as on processors of their own. `all`: the
// measured collectives, whose transfers questions have replaced. Errors are those of
// Scenario::restructure().
Result<void> shareProcessors(const std::vector<std::int64_t>& ranks,
                             const std::vector<JobCollective>& all,
                             const Processors& processors,
                             Asking& asking);

}  // namespace sonde::engine::whatif
