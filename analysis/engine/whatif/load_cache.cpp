#include "analysis/engine/whatif/load_cache.h"

#include "analysis/engine/whatif/lane_lookup.h"
#include "analysis/engine/whatif/loads.h"
#include "analysis/engine/whatif/span_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace sonde::engine::whatif {
namespace {

// Returns the mean time of a batch, before.
double changeLoads(Scenario& scenario,
                   const LaneLookup& lookup,
                   const RankLoads& of,
                   const LoadCache& cache) {
  const bool loadsItself = of.feeders.empty();
  const double batchNs = loadingNs(scenario, lookup, of) / static_cast<double>(of.loads.size());
  if (batchNs <= 0)
    return 0;
  const double hitNs = std::min(static_cast<double>(cache.hitNs), batchNs);
  const double factor = 1 - cache.hit + cache.hit * hitNs / batchNs;
  if (loadsItself)
    for (const Span& load : of.loads)
      scaleSpan(scenario, lookup, of.driver, load, factor, Origin::Modelled);
  for (const graph::LaneIndex lane : of.feeders)
    scaleLane(scenario, lookup, lane, factor, Origin::Modelled);
  return batchNs;
}

}  // namespace

Question loadCache(LoadCache of) {
  return [of](Asking& asking) -> Result<void> {
    if (!(of.hit >= 0 && of.hit <= 1))
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("a part of {} is not between 0 and 1", of.hit)};
    if (of.hitNs < 0)
      return Error{ErrorCode::InvalidArgument, "a batch takes no negative time"};
    Scenario& scenario = asking.scenario;
    const LaneLookup lookup(scenario.graph());
    SONDE_TRY_ASSIGN(const std::vector<RankLoads> loads, readLoads(asking.trace, scenario, lookup));
    double slowestNs = 0;
    for (const RankLoads& each : loads)
      slowestNs = std::max(slowestNs, changeLoads(scenario, lookup, each, of));
    if (slowestNs <= 0)
      return notFound(
          "the trace has no loads of data that take time: slices of the kind 'data_load', as the "
          "PyTorch hooks and sonde.operation() record them");
    asking.notes.push_back(fmt::format(
        "{:.0f} % of the batches take {:.3g} ms in place of {:.3g} ms, as a mean over all batches: "
        "hits are spread evenly, and decoding counts as part of a load",
        100 * of.hit,
        static_cast<double>(of.hitNs) / 1e6,
        slowestNs / 1e6));
    return {};
  };
}

}  // namespace sonde::engine::whatif
