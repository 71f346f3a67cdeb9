// The question how long an iteration would take if tensors had the layout that kernels need. Free
// functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <string>

namespace sonde::engine::whatif {

struct Layout {
  // A glob for the names of kernels that only convert layouts; empty: those of cuDNN, MIOpen,
  // PyTorch and XLA that transpose, or change between NCHW and NHWC.
  std::string conversions = {};
};

// Kernels that convert layouts take no time, and neither do the calls that launch them, as if all
// tensors were kept as torch.channels_last from the start.
//
// NotFound: no kernel converts layouts.
Question layout(Layout of);

}  // namespace sonde::engine::whatif
