#include "analysis/engine/whatif/network/networks.h"

#include <algorithm>

namespace sonde::engine::whatif {

Networks::Networks(const Scenario& scenario,
                   const std::vector<JobCollective>& all,
                   const std::vector<models::OpModel>& given)
    : models_(scenario.setting().networks) {
  const std::map<std::string, NetworkModel> own = fitNetworks(all);
  for (const JobCollective& each : all) {
    const NetworkKey key(each.communicator, each.op);
    const bool isChanged = scenario.setting().networks.contains(key);
    const auto* model = models::modelOf(given, each.op, each.isOnDevice, each.ranks);
    if (!isChanged && model != nullptr) {
      // Answers take twice a model's error as its interval.
      NetworkModel& used = models_.try_emplace(key, *model).first->second;
      used.error = std::max(used.error, used.interval(each.bytes, each.ranks) / 2);
      given_.insert(key);
    } else if (const auto fitted = own.find(each.communicator); fitted != own.end()) {
      models_.try_emplace(key, fitted->second);
    }
  }
}

const NetworkModel* Networks::find(const std::string& communicator, const std::string& op) const {
  const auto found = models_.find({communicator, op});
  return found == models_.end() ? nullptr : &found->second;
}

std::string Networks::describe(const std::string& communicator, const std::string& op) const {
  const bool isGiven = given_.contains({communicator, op});
  return whatif::describe(*find(communicator, op)) + (isGiven ? ", from the given model" : "");
}

}  // namespace sonde::engine::whatif
