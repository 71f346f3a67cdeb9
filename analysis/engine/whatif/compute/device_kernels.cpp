#include "analysis/engine/whatif/compute/device_kernels.h"

#include "analysis/engine/models/kernels/work_classes.h"
#include "analysis/engine/whatif/compute/device_works.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace sonde::engine::whatif {
namespace {

struct DeviceName {
  std::string name;

  SONDE_COLUMNS(name)
};

std::vector<ScaledKernel> kernelsOf(
    const Scenario& scenario,
    const std::vector<DeviceWork>& works,
    const models::OperatorTimes& times,
    const std::unordered_map<std::int64_t, std::size_t>& operators) {
  std::vector<ScaledKernel> found;
  for (const DeviceWork& each : works) {
    if (each.name.empty() || each.isCollective)
      continue;
    ScaledKernel& kernel = found.emplace_back();
    kernel.node = each.node;
    kernel.ofClass = models::classOfKernel(each.name);
    kernel.isReduced = models::isOfReducedPrecision(each.name);
    kernel.isTensorFloat = each.name.find("tf32") != std::string::npos;
    kernel.ns = static_cast<double>(scenario.durNs()[each.node]);
    if (const auto at = operators.find(scenario.graph().row[each.node]); at != operators.end()) {
      kernel.work = &times.operators[at->second].work;
      if (const double bytes = models::bytesOfType(kernel.work->type); bytes > 0)
        kernel.isReduced = bytes <= 2;
    }
  }
  return found;
}

}  // namespace

Result<DeviceKernels> readDeviceKernels(const Asking& asking) {
  DeviceKernels found;
  SONDE_TRY_ASSIGN(const std::vector<DeviceWork> works,
                   readDeviceWorks(asking.trace, asking.scenario.job()));
  SONDE_TRY_ASSIGN(found.times, models::readOperatorTimes(asking.trace));
  SONDE_TRY_ASSIGN(const auto operators, operatorsOfKernels(asking.trace, found.times));
  found.kernels = kernelsOf(asking.scenario, works, found.times, operators);
  if (found.kernels.empty())
    return notFound(
        "the trace has no kernels of a device, so nothing says how long other ones would take");
  return found;
}

Result<PresentDevice> presentDevice(const store::Database& trace) {
  PresentDevice found;
  bool isOne = true;
  SONDE_TRY(store::forEach<DeviceName>(
      trace,
      "SELECT DISTINCT d.name FROM device d WHERE d.id IN (SELECT s.device_id FROM stream s JOIN "
      "kernel k ON k.stream_id = s.id) AND d.name NOTNULL",
      [&](const DeviceName& row) {
        const models::DevicePeaks* peaks = models::peaksOfDevice(row.name);
        isOne &= found.name.empty() || peaks == found.peaks;
        found = {row.name, peaks};
      }));
  if (!isOne)
    found.peaks = nullptr;
  return found;
}

Error unknownPeaks(const PresentDevice& device, const char* advice) {
  return notFound(
      fmt::format("the peaks of the trace's device{}{} are unknown: give from=…, one "
                  "of {}{}",
                  device.name.empty() ? "" : " ",
                  device.name,
                  models::namesOfPeaks(),
                  advice));
}

}  // namespace sonde::engine::whatif
