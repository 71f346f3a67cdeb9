#include "analysis/engine/models/op_models.h"

namespace sonde::engine::models {

const CollectiveModel* modelOf(const std::vector<OpModel>& all,
                               const std::string& op,
                               bool isOnDevice,
                               std::int64_t ranks) {
  const CollectiveModel* exact = nullptr;
  const CollectiveModel* other = nullptr;
  for (const OpModel& each : all) {
    if (each.op != op || each.isOnDevice != isOnDevice)
      continue;
    const std::size_t counts = each.model.ranks.size();
    if (each.model.ranks.count(ranks) > 0 && (exact == nullptr || counts < exact->ranks.size()))
      exact = &each.model;
    if (other == nullptr || counts > other->ranks.size())
      other = &each.model;
  }
  return exact != nullptr ? exact : other;
}

}  // namespace sonde::engine::models
