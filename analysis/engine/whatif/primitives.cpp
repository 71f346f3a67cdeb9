#include "analysis/engine/whatif/primitives.h"

#include "analysis/engine/whatif/selection.h"
#include "analysis/engine/whatif/span_edits.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
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
    const std::span parts(selection.parts);
    for (const SelectedThing& thing : selection.things)
      setParts(asking.scenario,
               parts.subspan(thing.first, thing.last - thing.first),
               static_cast<double>(ns),
               Origin::Modelled);
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
