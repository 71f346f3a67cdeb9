#include "analysis/engine/whatif/compute/layout.h"

#include "analysis/engine/models/kernels/work_classes.h"
#include "analysis/engine/whatif/compute/device_works.h"
#include "analysis/engine/whatif/lane_lookup.h"
#include "analysis/engine/whatif/selector.h"
#include "analysis/engine/whatif/span_edits.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sonde::engine::whatif {
namespace {

// For people: the first ones, each cut short.
std::string listed(const std::set<std::string>& names) {
  constexpr std::size_t kMost = 3;
  constexpr std::size_t kLetters = 60;
  std::string text;
  std::size_t count = 0;
  for (const std::string& each : names) {
    if (count++ == kMost)
      break;
    text.append(text.empty() ? "" : ", ").append(each.substr(0, kLetters));
    text.append(each.size() > kLetters ? "…" : "");
  }
  if (names.size() > kMost)
    text.append(fmt::format(" and {} more", names.size() - kMost));
  return text;
}

}  // namespace

Question layout(Layout of) {
  return [of](Asking& asking) -> Result<void> {
    Scenario& scenario = asking.scenario;
    SONDE_TRY_ASSIGN(const std::vector<DeviceWork> works,
                     readDeviceWorks(asking.trace, scenario.job()));
    const LaneLookup lookup(scenario.graph());
    std::int64_t count = 0;
    std::set<std::string> names;
    for (const DeviceWork& each : works) {
      const bool isConversion = of.conversions.empty() ? models::convertsLayout(each.name)
                                                       : matches(of.conversions, each.name);
      if (each.name.empty() || each.isCollective || !isConversion)
        continue;
      ++count;
      names.insert(each.name);
      scenario.setNode(each.node, 0, Origin::Modelled);
      if (each.thread)
        scaleSpan(scenario, lookup, *each.thread, each.call, 0, Origin::Modelled);
    }
    if (count == 0)
      return notFound(works.empty() ? "the trace has no kernels of a device"
                                    : "no kernel converts layouts, so another layout saves "
                                      "nothing that the trace shows");
    asking.notes.push_back(fmt::format(
        "{} kernels that convert layouts take no time, and neither do their launches: {}; other "
        "kernels stay, though some are faster or slower with another layout",
        count,
        listed(names)));
    return {};
  };
}

}  // namespace sonde::engine::whatif
