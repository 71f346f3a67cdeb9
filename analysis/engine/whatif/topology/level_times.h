// Gives the collectives of a job the times of a network with two levels. Plain values; any thread.
#pragma once

#include "analysis/engine/whatif/network/networks.h"
#include "analysis/engine/whatif/network/retimed_collectives.h"
#include "analysis/engine/whatif/topology/topology.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {

class LevelTimes {
 public:
  // Requires: `networks` outlives this.
  LevelTimes(const Topology& of, const Networks& networks, std::map<std::string, GroupShape> shapes)
      : of_(of), networks_(networks), shapes_(std::move(shapes)) {}

  // Retimes all collectives. Errors are those of retime().
  Result<void> apply(Scenario& scenario, const std::vector<JobCollective>& all);

  // Afterwards: puts the error of the new times and what they assume into the answer, and gives
  // later questions the ring that takes as long.
  void explain(Asking& asking) const;

 private:
  // The largest collective of a communicator and operation.
  struct Largest {
    double bytes = 0;
    std::int64_t ranks = 0;
    TimedAlgorithm timed;
  };

  std::optional<double> ns(const MovedBytes& moved);
  TwoLevels levelsOf(const GroupShape& shape, const NetworkModel* model) const;
  NetworkModel ringLike(const NetworkKey& key, const Largest& of) const;
  bool needsModel() const { return !of_.insideLatencyNs || !of_.betweenLatencyNs; }

  const Topology& of_;
  const Networks& networks_;
  std::map<std::string, GroupShape> shapes_;
  std::map<Algorithm, std::int64_t> counts_;
  std::map<NetworkKey, Largest> largest_;
  std::int64_t kept_ = 0;
  double totalNs_ = 0;
  double errorNs_ = 0;
};

}  // namespace sonde::engine::whatif
