#include "analysis/engine/diff/rank_times.h"

#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/engine/diff/device_times.h"
#include "analysis/engine/diff/ledger.h"

#include <string>
#include <utility>

namespace sonde::engine::diff {
namespace {

// Each name that is active at an instant has all of it: what two threads do at once counts for
// both.
void addSet(
    Place place, Kind kind, const std::vector<std::string>& names, std::int64_t ns, Ledger& into) {
  for (const std::string& name : names)
    into.add(place, {kind, {}, name}, static_cast<double>(ns));
  if (names.empty())
    into.add(place, {kind, {}, {}}, static_cast<double>(ns));
}

// As at execution, so that operations are those that threads were in; what devices do for them
// later is put down by itself.
Result<void> addBreakdown(const store::Database& trace, const Dimensions& by, Ledger& ledger) {
  breakdown::Options options;
  options.by.process = options.by.iteration = true;
  options.by.operation = by.operation;
  options.by.phase = by.phase;
  options.by.module = by.module;
  options.by.category = by.category;
  options.atLaunch = false;
  const auto result = breakdown::breakDown(trace, options);
  if (!result && result.error().code == ErrorCode::NotFound)
    return {};  // nothing takes any time, which iterations of no length may
  if (!result)
    return result.error();
  for (const breakdown::Row& row : result->rows) {
    const breakdown::Group& group = row.group;
    if (!group.processId || !group.iteration)
      continue;
    const auto place = ledger.byNumber(*group.processId, *group.iteration);
    if (!place)
      continue;
    if (by.operation)
      addSet(*place, Kind::Host, group.operations, row.ns, ledger);
    if (by.phase)
      addSet(*place, Kind::Phase, group.phases, row.ns, ledger);
    if (by.module)
      addSet(*place, Kind::Module, group.modules, row.ns, ledger);
    if (by.category)
      addSet(*place,
             Kind::Category,
             {group.categories.begin(), group.categories.end()},
             row.ns,
             ledger);
  }
  return {};
}

}  // namespace

Result<std::vector<RankTimes>> readRankTimes(const store::Database& trace, const Dimensions& by) {
  SONDE_TRY_ASSIGN(Ledger ledger, Ledger::open(trace));
  if (ledger.empty())
    return std::vector<RankTimes>();
  if (by.operation || by.phase || by.module || by.category) {
    SONDE_TRY(addBreakdown(trace, by, ledger));
  }
  if (by.operation || by.kernel) {
    SONDE_TRY(addDeviceTimes(trace, by, ledger));
  }
  return ledger.take();
}

}  // namespace sonde::engine::diff
