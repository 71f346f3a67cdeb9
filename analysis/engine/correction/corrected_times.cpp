#include "analysis/engine/correction/corrected_times.h"

#include "analysis/engine/correction/correct.h"

#include <utility>

namespace sonde::engine::correction {

CorrectedTimes::CorrectedTimes(std::shared_ptr<const RecordedProgram> of,
                               const std::vector<EventCost>& costs)
    : of_(std::move(of)), lanes_(correct(of_->program, costs)) {}

std::int64_t CorrectedTimes::at(const std::unordered_map<std::int64_t, LaneIndex>& lanes,
                                std::int64_t id,
                                std::int64_t ns) const {
  const auto lane = lanes.find(id);
  return lane == lanes.end() ? ns : lanes_[lane->second](ns);
}

Result<std::optional<Correction>> readCorrection(const store::Database& trace,
                                                 const CostSet* measured) {
  SONDE_TRY_ASSIGN(CostTable costs, CostTable::read(trace));
  if (measured != nullptr)
    costs.add(*measured);
  if (costs.empty())
    return std::optional<Correction>();
  SONDE_TRY_ASSIGN(RecordedProgram read, readProgram(trace, costs));
  const auto program = std::make_shared<const RecordedProgram>(std::move(read));
  Correction correction{costs.rows(), program->unknown, CorrectedTimes(program, costs.costs()), {}};
  std::vector<std::int64_t> events(costs.rows().size(), 0);
  for (const Lane& lane : program->program.lanes)
    for (const CostPoint& point : lane.points)
      ++events[point.cost];
  for (const std::vector<double>& mode : costs.errorModes(events))
    correction.modes.emplace_back(program, costs.costsWith(mode));
  return std::optional(std::move(correction));
}

}  // namespace sonde::engine::correction
