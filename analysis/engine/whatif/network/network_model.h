// How long the collectives of a trace take, by communicator. Plain values; any thread.
#pragma once

#include "analysis/engine/models/collective_model.h"
#include "analysis/engine/models/fit_collectives.h"
#include "analysis/engine/whatif/job_collectives.h"

#include <map>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

using models::CollectiveCost;
using models::costOf;
using NetworkModel = models::CollectiveModel;

// From an arrival of all ranks of a communicator until none of its collectives is under way.
// Collectives that overlap share the network, so only together they show its speed.
struct BusyTime {
  const JobCollective* first = nullptr;
  CollectiveCost cost;  // of all its collectives
  double ns = 0;
};

// Those whose collectives are complete, by communicator. Requires: `all` by last arrival; it
// outlives the result.
std::vector<BusyTime> busyTimes(const std::vector<JobCollective>& all);

// A point is the median of busy times with the same ranks and cost, weighted by their number.
std::vector<models::CollectivePoint> pointsOf(const std::vector<BusyTime>& times);

// The model of each communicator that has busy times. Requires: `all` by last arrival.
std::map<std::string, NetworkModel> fitNetworks(const std::vector<JobCollective>& all);

// A model in words: its parameters, and how wrong it is.
std::string describe(const NetworkModel& model);

}  // namespace sonde::engine::whatif
