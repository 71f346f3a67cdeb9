// The models by which questions give collectives new times: those that earlier questions changed,
// then given ones, then those that are fitted to the trace itself. Plain values; any thread.
#pragma once

#include "analysis/engine/models/op_models.h"
#include "analysis/engine/whatif/network/network_model.h"
#include "analysis/engine/whatif/scenario.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

class Networks {
 public:
  // Requires: `all` by last arrival.
  Networks(const Scenario& scenario,
           const std::vector<JobCollective>& all,
           const std::vector<models::OpModel>& given);

  bool empty() const noexcept { return models_.empty(); }
  // nullptr: there is no model for collectives like this one.
  const NetworkModel* find(const std::string& communicator, const std::string& op) const;
  // That model in words, and where it comes from. Requires: there is one.
  std::string describe(const std::string& communicator, const std::string& op) const;
  const std::map<NetworkKey, NetworkModel>& all() const noexcept { return models_; }

 private:
  std::map<NetworkKey, NetworkModel> models_;
  std::set<NetworkKey> given_;
};

}  // namespace sonde::engine::whatif
