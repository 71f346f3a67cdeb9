#include "analysis/engine/whatif/compute/batch_size.h"

#include "analysis/engine/whatif/compute/micro_batches.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/loads.h"
#include "analysis/engine/whatif/network/driver_times.h"
#include "analysis/engine/whatif/network/serial_transfers.h"
#include "analysis/engine/whatif/span_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace sonde::engine::whatif {
namespace {

// The error, as a part of the change of an operator's time, which seldom is in proportion to the
// batch.
constexpr double kProportion = 0.1;

// Time that others took from `drivers` does not depend on the batch. Lanes of `feeders` are left
// out.
void scaleAllOf(Scenario& scenario,
                const std::vector<MicroWork>& works,
                double factor,
                const std::map<graph::LaneIndex, DriverTimes>& drivers,
                const std::set<graph::LaneIndex>& feeders) {
  for (const MicroWork& each : works) {
    if (feeders.contains(scenario.graph().lane[each.node]))
      continue;
    const auto driver = drivers.find(scenario.graph().lane[each.node]);
    const double stolen = driver == drivers.end() ? 0 : driver->second.stolenShare();
    const double ofThread = stolen + (1 - stolen) * factor;
    scenario.scale(each.node, each.part.beginNs, each.part.endNs, ofThread, Origin::Modelled);
  }
}

// The time that a rank loads by itself, and that of its workers.
void scaleLoads(Scenario& scenario,
                const LaneLookup& lookup,
                const RankLoads& of,
                bool withOwn,
                double factor) {
  if (withOwn && of.feeders.empty())
    for (const Span& load : of.loads)
      scaleSpan(scenario, lookup, of.driver, load, factor, Origin::Modelled);
  for (const graph::LaneIndex lane : of.feeders)
    scaleLane(scenario, lookup, lane, factor, Origin::Modelled);
}

}  // namespace

Question batchSize(BatchSize of) {
  return [of](Asking& asking) -> Result<void> {
    if (!std::isfinite(of.factor) || of.factor <= 0)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("a batch cannot have {} times as many samples", of.factor)};
    if (!(of.fixed >= 0 && of.fixed <= 1))
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("a fixed part of {} is not between 0 and 1", of.fixed)};
    Scenario& scenario = asking.scenario;
    SONDE_TRY_ASSIGN(std::vector<MicroBatch> batches,
                     readMicroBatches(asking.trace, scenario.job()));
    SONDE_TRY_ASSIGN(const std::vector<JobCollective> collectives,
                     readCollectives(asking.trace, scenario.job()));
    SONDE_TRY_ASSIGN(const std::vector<IterationBuckets> iterations,
                     bucketsOf(asking.trace, scenario.job(), collectives, TransferEdits(scenario)));
    endAtReductions(scenario.graph(), iterations, batches);
    SONDE_TRY_ASSIGN(const MicroWorks works,
                     readWorks(asking.trace, scenario.job(), collectives, batches));
    const double factor = of.fixed + (1 - of.fixed) * of.factor;
    const bool isOnDevices = !works.onDevices.empty();
    std::map<graph::LaneIndex, DriverTimes> drivers;
    if (!isOnDevices) {
      SONDE_TRY_ASSIGN(drivers, readDriverTimes(asking.trace, scenario.job()));
    }
    const LaneLookup lookup(scenario.graph());
    SONDE_TRY_ASSIGN(const std::vector<RankLoads> loads, readLoads(asking.trace, scenario, lookup));
    std::set<graph::LaneIndex> feeders;
    for (const RankLoads& each : loads)
      feeders.insert(each.feeders.begin(), each.feeders.end());
    scaleAllOf(scenario, isOnDevices ? works.onDevices : works.onThreads, factor, drivers, feeders);
    for (const RankLoads& each : loads)
      scaleLoads(scenario, lookup, each, isOnDevices, factor);
    if (!isOnDevices)
      asking.afterwards.emplace_back(serialiseTransfers);
    asking.modelError =
        std::max(asking.modelError, kProportion * std::abs(factor - 1) / std::max(factor, 1.0));
    asking.notes.push_back(fmt::format(
        "an iteration then has {:g} times as many samples; {} take {:g} times as long, which "
        "assumes that all but {:.0f} % of their time is in proportion to the samples",
        of.factor,
        isOnDevices ? "kernels and copies of forward and backward passes, and loads,"
                    : "loading, forward and backward",
        factor,
        100 * of.fixed));
    return {};
  };
}

}  // namespace sonde::engine::whatif
