#include "analysis/engine/whatif/primitives.h"

#include "analysis/engine/whatif/selection.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace sonde::engine::whatif {
namespace {

Result<void> scaleAll(Asking& asking, const Selector& selector, double factor, Launches launches) {
  Scenario& scenario = asking.scenario;
  SONDE_TRY_ASSIGN(const Selection selection,
                   select(asking.trace, scenario.job(), selector, launches));
  for (const SelectedPart& part : selection.parts)
    scenario.scale(part.node, part.beginNs, part.endNs, factor, Origin::Scaled);
  for (const std::uint32_t edge : selection.messages)
    scenario.setLag(edge, scenario.lagNs()[edge] * factor, Origin::Scaled);
  return {};
}

// The lengths of a stretch of a thread become `ns` together, in proportion.
void setThing(Scenario& scenario,
              const Selection& selection,
              const SelectedThing& thing,
              std::int64_t ns) {
  double present = 0;
  for (std::uint32_t i = thing.first; i < thing.last; ++i) {
    const SelectedPart& part = selection.parts[i];
    present += scenario.lengthNs(part.node, part.beginNs, part.endNs);
  }
  if (present <= 0)
    return;
  for (std::uint32_t i = thing.first; i < thing.last; ++i) {
    const SelectedPart& part = selection.parts[i];
    scenario.scale(
        part.node, part.beginNs, part.endNs, static_cast<double>(ns) / present, Origin::Modelled);
  }
}

}  // namespace

Question scale(Selector selector, double factor) {
  return [selector = std::move(selector), factor](Asking& asking) -> Result<void> {
    if (!std::isfinite(factor) || factor < 0)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("'{}' cannot take {} times as long", selector.text, factor)};
    return scaleAll(asking, selector, factor, Launches::Left);
  };
}

Question set(Selector selector, std::int64_t ns) {
  return [selector = std::move(selector), ns](Asking& asking) -> Result<void> {
    SONDE_TRY_ASSIGN(const Selection selection,
                     select(asking.trace, asking.scenario.job(), selector));
    for (const SelectedThing& thing : selection.things)
      setThing(asking.scenario, selection, thing, ns);
    for (const std::uint32_t edge : selection.messages)
      asking.scenario.setLag(edge, static_cast<double>(ns), Origin::Modelled);
    return {};
  };
}

Question remove(Selector selector) {
  return [selector = std::move(selector)](Asking& asking) {
    return scaleAll(asking, selector, 0, Launches::Selected);
  };
}

}  // namespace sonde::engine::whatif
