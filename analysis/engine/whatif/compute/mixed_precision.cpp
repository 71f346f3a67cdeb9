#include "analysis/engine/whatif/compute/mixed_precision.h"

#include "analysis/engine/models/kernels/operator_times.h"
#include "analysis/engine/models/kernels/work_classes.h"
#include "analysis/engine/whatif/compute/device_works.h"
#include "analysis/engine/whatif/compute/micro_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde::engine::whatif {
namespace {

constexpr double kRule = 0.13;  // the largest error that Daydream reports

constexpr double kOfPeak = 0.25;  // by which products of matrices may miss the ratio of peaks

// How long the numbers are that kernels compute with: as recorded of their operators, else by the
// kernels' names.
class NumberSizes {
 public:
  static Result<NumberSizes> read(const store::Database& trace) {
    NumberSizes found;
    SONDE_TRY_ASSIGN(const models::OperatorTimes times, models::readOperatorTimes(trace));
    SONDE_TRY_ASSIGN(const auto operators, models::operatorsOfKernels(trace, times));
    for (const auto& [kernel, at] : operators)
      if (const double bytes = models::bytesOfType(times.operators[at].work.type); bytes > 0)
        found.recorded_.emplace(kernel, bytes);
    return found;
  }

  double bytes(std::int64_t kernel, std::string_view name) const {
    constexpr double kSingle = 4;
    if (const auto at = recorded_.find(kernel); at != recorded_.end())
      return at->second;
    if (models::isOfOneByte(name))
      return 1;
    return models::isOfReducedPrecision(name) ? 2 : kSingle;
  }

 private:
  std::unordered_map<std::int64_t, double> recorded_;  // by the kernel's id
};

}  // namespace

Question mixedPrecision(MixedPrecision of) {
  return [of](Asking& asking) -> Result<void> {
    if (!(of.matrix > 0) || !(of.memory > 0))
      return Error{ErrorCode::InvalidArgument, "how many times as fast is a number above 0"};
    Scenario& scenario = asking.scenario;
    SONDE_TRY_ASSIGN(const std::vector<DeviceWork> works,
                     readDeviceWorks(asking.trace, scenario.job()));
    SONDE_TRY_ASSIGN(const ThreadSpans optimizers, optimizerSpans(asking.trace, scenario.job()));
    SONDE_TRY_ASSIGN(const NumberSizes sizes, NumberSizes::read(asking.trace));
    std::int64_t matrices = 0;
    std::int64_t others = 0;
    std::int64_t already = 0;
    for (const DeviceWork& each : works) {
      if (each.name.empty() || each.isCollective ||
          (each.thread && optimizers.contains(*each.thread, each.call.beginNs)))
        continue;
      if (sizes.bytes(scenario.graph().row[each.node], each.name) <= 2) {
        ++already;
        continue;
      }
      const bool isMatrix = models::classOfKernel(each.name) == models::WorkClass::Matrix;
      ++(isMatrix ? matrices : others);
      scenario.setNode(each.node,
                       std::llround(static_cast<double>(scenario.durNs()[each.node]) /
                                    (isMatrix ? of.matrix : of.memory)),
                       Origin::Modelled);
    }
    if (matrices + others == 0)
      return notFound(already > 0
                          ? "all kernels compute with numbers of two bytes or less already"
                          : "the trace has no kernels of a device, so nothing says how much faster "
                            "smaller numbers would be");
    asking.modelError = std::max(asking.modelError, kRule);
    asking.notes.push_back(fmt::format(
        "{} kernels that multiply matrices are {:g} times as fast and {} others {:g} times; {} "
        "compute with two bytes already, and optimizers, copies and collectives stay",
        matrices,
        of.matrix,
        others,
        of.memory,
        already));
    return {};
  };
}

Question fp8(double matrix) {
  return [matrix](Asking& asking) -> Result<void> {
    if (!(matrix > 0))
      return Error{ErrorCode::InvalidArgument, "how many times as fast is a number above 0"};
    Scenario& scenario = asking.scenario;
    SONDE_TRY_ASSIGN(const std::vector<DeviceWork> works,
                     readDeviceWorks(asking.trace, scenario.job()));
    SONDE_TRY_ASSIGN(const NumberSizes sizes, NumberSizes::read(asking.trace));
    std::int64_t count = 0;
    for (const DeviceWork& each : works) {
      const bool isFaster = !each.isCollective &&
                            models::classOfKernel(each.name) == models::WorkClass::Matrix &&
                            sizes.bytes(scenario.graph().row[each.node], each.name) == 2;
      if (!isFaster)
        continue;
      ++count;
      scenario.setNode(each.node,
                       std::llround(static_cast<double>(scenario.durNs()[each.node]) / matrix),
                       Origin::Modelled);
    }
    if (count == 0)
      return notFound(
          "the trace has no kernels that multiply matrices of two-byte numbers; "
          "'mixed-precision' asks for those first");
    asking.modelError = std::max(asking.modelError, kOfPeak);
    asking.notes.push_back(fmt::format(
        "{} kernels that multiply matrices of two-byte numbers are {:g} times as fast, which is "
        "the ratio of peaks; small matrices gain less, and conversions take time",
        count,
        matrix));
    return {};
  };
}

}  // namespace sonde::engine::whatif
