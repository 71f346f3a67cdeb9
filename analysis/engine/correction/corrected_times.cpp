#include "analysis/engine/correction/corrected_times.h"

#include "analysis/engine/correction/correct.h"
#include "analysis/engine/correction/unexplained.h"

#include <utility>

namespace sonde::engine::correction {

CorrectedTimes::CorrectedTimes(std::shared_ptr<const RecordedProgram> of,
                               const std::vector<EventCost>& costs)
    : of_(std::move(of)), lanes_(correct(of_->lanes, of_->schedule, costs)) {}

Correction::Correction(CostTable table, RecordedProgram program)
    : unknown(program.unknown),
      times(std::make_shared<const RecordedProgram>(std::move(program)), table.costs()),
      program_(times.program()),
      table_(std::move(table)) {
  const std::vector<std::int64_t> events = program_->eventsByCost(table_.rows().size());
  modes_ = errorModes(table_, events);
  for (std::size_t at = 0; at < events.size(); ++at)
    if (events[at] > 0)
      costs.push_back(table_.rows()[at]);
}

CorrectedTimes Correction::timesWith(std::size_t cause, Error error) const {
  const double size = error == Error::Higher ? 1 : -1;
  return {program_, costsWith(table_, modes_[cause], size)};
}

Result<std::optional<Correction>> readCorrection(const store::Database& trace,
                                                 const CostSet* measured) {
  SONDE_TRY_ASSIGN(CostTable costs, CostTable::read(trace));
  if (measured != nullptr)
    costs.add(*measured);
  if (costs.empty())
    return std::optional<Correction>();
  SONDE_TRY_ASSIGN(RecordedProgram program, readProgram(trace, costs));
  Correction correction(std::move(costs), std::move(program));
  SONDE_TRY_ASSIGN(correction.unexplained,
                   unexplainedOf(trace, correction.times, correction.table()));
  return std::optional(std::move(correction));
}

}  // namespace sonde::engine::correction
