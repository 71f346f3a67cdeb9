#include "analysis/engine/whatif/compute/recompute.h"

#include "analysis/engine/whatif/compute/passes.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {
namespace {

// The relative error of a second forward pass that takes as long as the first one: its data may be
// in caches, and it stores what the first one does not.
constexpr double kAgain = 0.05;

// Parts of nodes that are selected, by node; disjoint, by begin.
using Parts = std::map<graph::NodeIndex, std::vector<Span>>;

std::optional<Parts> partsOf(const std::optional<Selection>& selection) {
  if (!selection)
    return std::nullopt;
  Parts parts;
  for (const SelectedPart& each : selection->parts)
    parts[each.node].push_back({each.beginNs, each.endNs});
  return parts;
}

// The present length of that which a selector leaves of the work.
double lengthOf(const Scenario& scenario, const MicroWork& work, const std::optional<Parts>& only) {
  if (!only)
    return scenario.lengthNs(work.node, work.part.beginNs, work.part.endNs);
  const auto parts = only->find(work.node);
  double sum = 0;
  if (parts != only->end())
    for (const Span& each : parts->second) {
      const std::int64_t begin = std::max(each.beginNs, work.part.beginNs);
      const std::int64_t end = std::min(each.endNs, work.part.endNs);
      if (begin < end)
        sum += scenario.lengthNs(work.node, begin, end);
    }
  return sum;
}

// The length of each pass's work.
std::vector<double> lengthsOf(const Scenario& scenario,
                              const std::vector<MicroWork>& works,
                              std::size_t passes,
                              const std::optional<Parts>& only) {
  std::vector<double> sums(passes);
  for (const MicroWork& each : works)
    sums[each.batch] += lengthOf(scenario, each, only);
  return sums;
}

// Makes the work of backward passes longer by a share of that of their forward passes. Returns the
// added time.
double lengthen(Scenario& scenario,
                const std::vector<MicroWork>& works,
                const std::vector<double>& forward,
                double share) {
  const std::vector<double> backward = lengthsOf(scenario, works, forward.size(), std::nullopt);
  for (const MicroWork& each : works)
    if (backward[each.batch] > 0 && forward[each.batch] > 0)
      scenario.scale(each.node,
                     each.part.beginNs,
                     each.part.endNs,
                     1 + share * forward[each.batch] / backward[each.batch],
                     Origin::Modelled);
  double added = 0;
  for (std::size_t pass = 0; pass < forward.size(); ++pass)
    added += backward[pass] > 0 ? share * forward[pass] : 0;
  return added;
}

}  // namespace

Question recompute(Recompute of) {
  return [of = std::move(of)](Asking& asking) -> Result<void> {
    if (!(of.share >= 0 && of.share <= 1))
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("a share of {} is not between 0 and 1", of.share)};
    Scenario& scenario = asking.scenario;
    SONDE_TRY_ASSIGN(const Passes passes, readPasses(asking.trace, scenario.job()));
    std::optional<Selection> selection;
    if (of.only) {
      SONDE_TRY_ASSIGN(selection, select(asking.trace, scenario.job(), *of.only));
    }
    const std::optional<Parts> only = partsOf(selection);
    SONDE_TRY_ASSIGN(const std::vector<JobCollective> collectives,
                     readCollectives(asking.trace, scenario.job()));
    SONDE_TRY_ASSIGN(const MicroWorks forward,
                     readWorks(asking.trace, scenario.job(), collectives, passes.forward));
    SONDE_TRY_ASSIGN(const MicroWorks backward,
                     readWorks(asking.trace, scenario.job(), collectives, passes.backward));
    const std::size_t count = passes.forward.size();
    double added = 0;
    for (const auto works : {&MicroWorks::onThreads, &MicroWorks::onDevices}) {
      const double ns = lengthen(
          scenario, backward.*works, lengthsOf(scenario, forward.*works, count, only), of.share);
      added = ns > 0 && !(forward.*works).empty() ? ns : added;
    }
    if (added <= 0 && of.share > 0)
      return notFound(of.only ? fmt::format("no work of a forward pass matches '{}'", of.only->text)
                              : "the passes of the trace have no work of their own");
    asking.modelError = std::max(asking.modelError, kAgain);
    asking.notes.push_back(fmt::format(
        "{:.3g} ms of a forward pass run again in its backward pass, spread evenly over it; this "
        "assumes that they take as long as the first time. The memory that this saves is not "
        "judged",
        added / static_cast<double>(count) / 1e6));
    return {};
  };
}

}  // namespace sonde::engine::whatif
