// Models of several operations, as one file holds them. Plain values; any thread.
#pragma once

#include "analysis/engine/models/collective_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::models {

struct OpModel {
  std::string op;  // the collective's word, such as "allreduce"
  bool isOnDevice = false;
  CollectiveModel model;
};

// The model of this operation that was fitted to the fewest rank counts, `ranks` among them. If
// none was, the one with the most. nullptr: none has the operation there.
const CollectiveModel* modelOf(const std::vector<OpModel>& all,
                               const std::string& op,
                               bool isOnDevice,
                               std::int64_t ranks);

}  // namespace sonde::engine::models
