// All models that one file holds. Plain values; any thread.
#pragma once

#include "analysis/engine/models/kernels/kernel_model.h"
#include "analysis/engine/models/op_models.h"

#include <vector>

namespace sonde::engine::models {

struct ModelSet {
  std::vector<OpModel> collectives;
  std::vector<KernelModel> kernels;

  bool empty() const noexcept { return collectives.empty() && kernels.empty(); }
};

}  // namespace sonde::engine::models
