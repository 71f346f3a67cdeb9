#include "recorder/system/energy_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::recorder::system {

namespace fs = std::filesystem;

EnergySource::EnergySource(const Roots& roots) {
  std::error_code problem;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(roots.sys / "class/powercap", problem)) {
    KernelFile file(entry.path() / "energy_uj");
    const auto now = numberIn(file.read());
    if (!now)
      continue;
    Zone zone;
    zone.name = fmt::format(
        "energy {} ({})", firstLineOf(entry.path() / "name"), entry.path().filename().string());
    zone.file = std::move(file);
    zone.range = numberIn(firstLineOf(entry.path() / "max_energy_range_uj")).value_or(0);
    zone.last = *now;
    zones_.push_back(std::move(zone));
  }
  std::sort(
      zones_.begin(), zones_.end(), [](const Zone& a, const Zone& b) { return a.name < b.name; });
}

void EnergySource::sample(Readings& into) {
  for (Zone& zone : zones_) {
    const auto now = numberIn(zone.file.read());
    if (!now)
      continue;
    if (!std::exchange(zone.isDefined, true))
      zone.metric = into.define({.name = zone.name, .unit = "J", .isTotal = true});
    const std::uint64_t used = *now >= zone.last ? *now - zone.last : *now + zone.range - zone.last;
    zone.last = *now;
    zone.joules += static_cast<double>(used) * 1e-6;
    into.add(zone.metric, zone.joules);
  }
}

}  // namespace sonde::recorder::system
