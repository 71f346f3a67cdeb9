#include "analysis/engine/diff/iteration_times.h"

#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/engine/diff/device_times.h"
#include "analysis/engine/diff/ledger.h"
#include "analysis/engine/metrics/clock.h"
#include "analysis/engine/statistics/series.h"
#include "analysis/store/statement.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace sonde::engine::diff {
namespace {

// Each name that is active at an instant gets all of the time: if two threads are active, it counts
// for both.
void addSet(Place place,
            Kind kind,
            const std::vector<std::string>& names,
            const Amount& amount,
            Ledger& into) {
  for (const std::string& name : names)
    into.add(place, {kind, {}, name}, amount);
  if (names.empty())
    into.add(place, {kind, {}, {}}, amount);
}

// Uses the execution scope: operations are those that threads were in. Device time for them is
// recorded separately.
Result<void> addBreakdown(const store::Database& trace,
                          const Dimensions& by,
                          const Correcting& correcting,
                          Ledger& ledger) {
  breakdown::Options options;
  options.by.process = options.by.iteration = true;
  options.by.operation = by.operation;
  options.by.phase = by.phase;
  options.by.module = by.module;
  options.by.category = by.category;
  options.atLaunch = false;
  options.byIterationRow = true;
  options.correct = correcting.wanted;
  options.measured = correcting.measured;
  const auto result = breakdown::breakDown(trace, options);
  if (!result && result.error().code == ErrorCode::NotFound)
    return {};  // nothing takes time; iterations of length zero are possible
  if (!result)
    return result.error();
  for (const breakdown::Row& row : result->rows) {
    const breakdown::Group& group = row.group;
    if (!group.processId || !group.iteration)
      continue;
    const auto place = ledger.byRow(*group.processId, *group.iteration);
    if (!place)
      continue;
    const Amount amount{static_cast<double>(row.ns), static_cast<double>(row.rawNs), row.errorNs};
    if (by.operation)
      addSet(*place, Kind::Host, group.operations, amount, ledger);
    if (by.phase)
      addSet(*place, Kind::Phase, group.phases, amount, ledger);
    if (by.module)
      addSet(*place, Kind::Module, group.modules, amount, ledger);
    if (by.category)
      addSet(*place,
             Kind::Category,
             {group.categories.begin(), group.categories.end()},
             amount,
             ledger);
  }
  return {};
}

Result<CostSource> sourceOf(const store::Database& trace,
                            const metrics::Clocks& clocks,
                            const Correcting& correcting) {
  CostSource source;
  if (!clocks.correction())
    return source;
  source.known = true;
  const auto& costs = clocks.correction()->costs;
  source.ownRun = correcting.measured == nullptr &&
                  std::any_of(costs.begin(), costs.end(), [](const auto& cost) {
                    return cost.method == correction::method::kInRun;
                  });
  SONDE_TRY_ASSIGN(
      source.recorder,
      trace.queryText("SELECT coalesce((SELECT value FROM meta WHERE key = 'sources'), '') || ' ' "
                      "|| coalesce((SELECT value FROM meta WHERE key = 'build'), '') || ' ' || "
                      "coalesce((SELECT max(cpu_model) FROM host), '')"));
  return source;
}

// The noise of a run that calibrated itself; infinite if the trace does not have it.
Result<double> calibrationNoiseNs(const store::Database& trace) {
  SONDE_TRY_ASSIGN(store::Statement row,
                   trace.prepare("SELECT json_extract(value, '$.noise_ns') FROM meta "
                                 "WHERE key = 'calibrated' AND json_valid(value)"));
  SONDE_TRY_ASSIGN(const bool found, row.step());
  return found && !row.isNull(0) ? row.real(0) : std::numeric_limits<double>::infinity();
}

double noiseShare(double noiseNs, const IterationTimes& rank) {
  const std::vector<double>& errors = rank.errors.at({});
  const double error = errors.empty() ? 0 : statistics::mean(errors);
  return error > 0 ? std::clamp(noiseNs / error, 0.0, 1.0) : 0;
}

}  // namespace

Result<std::vector<IterationTimes>> readIterationTimes(const store::Database& trace,
                                                       const Dimensions& by,
                                                       const Correcting& correcting) {
  metrics::Clocks clocks;
  if (correcting.wanted) {
    SONDE_TRY_ASSIGN(clocks, metrics::Clocks::read(trace, correcting.measured));
  }
  const std::vector<metrics::Clock> all = clocks.all();
  SONDE_TRY_ASSIGN(Ledger ledger, Ledger::open(trace, all));
  if (ledger.empty())
    return std::vector<IterationTimes>();
  if (by.operation || by.phase || by.module || by.category) {
    SONDE_TRY(addBreakdown(trace, by, correcting, ledger));
  }
  if (by.operation || by.kernel) {
    SONDE_TRY(addDeviceTimes(trace, by, all, ledger));
  }
  SONDE_TRY_ASSIGN(const CostSource source, sourceOf(trace, clocks, correcting));
  std::vector<IterationTimes> ranks = ledger.take();
  for (IterationTimes& rank : ranks)
    rank.costs = source;
  if (!source.ownRun)
    return ranks;
  SONDE_TRY_ASSIGN(const double noiseNs, calibrationNoiseNs(trace));
  for (IterationTimes& rank : ranks)
    rank.costs.noise = noiseShare(noiseNs, rank);
  return ranks;
}

}  // namespace sonde::engine::diff
