#include "analysis/engine/whatif/compute/block_sparsity.h"

#include "analysis/engine/whatif/compute/device_kernels.h"
#include "analysis/engine/whatif/compute/kernel_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sonde::engine::whatif {

Question blockSparsity(BlockSparsity of, const models::DevicePeaks* from) {
  return [of, from](Asking& asking) -> Result<void> {
    if (!(of.density > 0 && of.density <= 1) || !(of.block >= 1))
      return Error{ErrorCode::InvalidArgument,
                   "a density is above 0 and at most 1, and a block has 1 number or more"};
    SONDE_TRY_ASSIGN(const DeviceKernels found, readDeviceKernels(asking));
    SONDE_TRY_ASSIGN(const PresentDevice recorded, presentDevice(asking.trace));
    const models::DevicePeaks* peaks = from != nullptr ? from : recorded.peaks;
    if (peaks == nullptr)
      return unknownPeaks(recorded, "");
    std::int64_t changed = 0;
    double dense = 0;
    double sparse = 0;
    for (const ScaledKernel& each : found.kernels) {
      if (each.work == nullptr || !(each.work->sideElements > 0))
        continue;
      const double ns =
          each.ns * sparseFactor(*each.work, of, arithmeticOf(*peaks, each), peaks->bandwidth);
      asking.scenario.setNode(each.node, std::llround(ns), Origin::Modelled);
      dense += each.ns;
      sparse += ns;
      ++changed;
    }
    if (!(sparse > 0))
      return notFound(
          "the trace has no kernels of mm and addmm with recorded sizes: record operators with "
          "--torch-operators shapes, or with record_shapes=True");
    // The interval reaches to the dense time.
    asking.modelError = std::max(asking.modelError, (dense / sparse - 1) / 2);
    asking.notes.push_back(fmt::format(
        "a ceiling: {} kernels of mm and addmm are at most {:.2f} times as fast with {:g} % of the "
        "blocks of {:g} x {:g} numbers on their right side; real kernels reach less",
        changed,
        dense / sparse,
        100 * of.density,
        of.block,
        of.block));
    return {};
  };
}

}  // namespace sonde::engine::whatif
