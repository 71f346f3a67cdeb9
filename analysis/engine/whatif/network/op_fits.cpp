#include "analysis/engine/whatif/network/op_fits.h"

#include "analysis/engine/whatif/network/network_model.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace sonde::engine::whatif {

std::vector<models::OpModel> fitOperations(const std::vector<JobCollective>& all) {
  using ByRanks = std::map<std::int64_t, std::vector<BusyTime>>;
  std::map<std::pair<std::string, bool>, ByRanks> byOp;
  for (const BusyTime& each : busyTimes(all))
    if (each.cost.calls == 1)
      byOp[{each.first->op, each.first->isOnDevice}][each.first->ranks].push_back(each);
  std::vector<models::OpModel> fitted;
  for (const auto& [op, byRanks] : byOp) {
    std::vector<BusyTime> together;
    for (const auto& [ranks, times] : byRanks) {
      fitted.push_back({op.first, op.second, models::fitCollectives(pointsOf(times))});
      together.insert(together.end(), times.begin(), times.end());
    }
    if (byRanks.size() > 1)
      fitted.push_back({op.first, op.second, models::fitCollectives(pointsOf(together))});
  }
  return fitted;
}

}  // namespace sonde::engine::whatif
