#include "analysis/engine/calibration/iteration_costs.h"

#include "analysis/engine/calibration/calibrated_costs.h"
#include "analysis/engine/correction/correct.h"
#include "analysis/engine/correction/recorded_program.h"
#include "analysis/engine/iterations/iterations.h"
#include "analysis/model/words.h"
#include "analysis/store/each_row.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sonde::engine::calibration {
namespace {

using correction::CostTable;
using correction::EventCost;
using correction::RecordedProgram;
using correction::Timeline;

Result<std::vector<CostedProcess>> readProcesses(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const auto iterations, iterations::Iterations::read(trace));
  std::map<std::int64_t, CostedProcess> byId;
  for (const iterations::Iteration& each : iterations.all()) {
    if (each.durNs.value_or(0) <= 0 || each.probeMask == 0 || each.isInner())
      continue;
    const auto [place, isNew] = byId.try_emplace(
        each.processId,
        CostedProcess{each.processId, iterations.fullMaskOf(each.processId), 0, {}});
    CostedProcess& process = place->second;
    ++process.made;
    process.iterations.push_back(
        {each.startNs, each.endNs(), each.probeMask, 0, {}, each.isDisturbed});
  }
  std::vector<CostedProcess> processes;
  for (auto& [id, process] : byId)
    processes.push_back(std::move(process));
  return processes;
}

void dropFirstOfBlocks(CostedProcess& process) {
  std::vector<CostedIteration> kept;
  std::int64_t mask = -1;
  std::size_t block = 0;
  for (CostedIteration& each : process.iterations) {
    const bool isFirst = each.mask != mask;
    block += isFirst ? 1 : 0;
    mask = each.mask;
    each.block = block;
    if (!isFirst && !each.isDisturbed)
      kept.push_back(std::move(each));
  }
  process.iterations = std::move(kept);
}

std::vector<std::string> probesOf(const CostTable& known) {
  std::vector<std::string> probes;
  for (const correction::MeasuredCost& row : known.rows())
    if (std::find(probes.begin(), probes.end(), row.probe) == probes.end())
      probes.push_back(row.probe);
  return probes;
}

// Adds what recording by one probe alone took of each iteration, without the part that remains when
// the probe is off. Considers waits that absorb it.
void addCostsOf(const std::string& probe,
                const CostTable& known,
                const RecordedProgram& program,
                IterationCosts& into) {
  std::vector<EventCost> costs = known.costs();
  const std::vector<std::int64_t> events = program.eventsByCost(costs.size());
  double recorded = 0;
  double unrecorded = 0;
  for (std::size_t at = 0; at < costs.size(); ++at) {
    const double share =
        known.rows()[at].probe == probe ? 1 - unrecordedShare(known.rows()[at]) : 0;
    const double sum = costs[at].sumNs() * static_cast<double>(events[at]);
    recorded += sum * share;
    unrecorded += share > 0 ? sum * (1 - share) : 0;
    costs[at] = {costs[at].beforeNs * share, costs[at].insideNs * share, costs[at].afterNs * share};
  }
  if (recorded <= 0)
    return;
  const std::vector<Timeline> lanes = correction::correct(program.lanes, program.schedule, costs);
  const auto costOf = [&](const CostedProcess& process, const CostedIteration& each) {
    const auto lane = program.ofProcess.find(process.id);
    if (lane == program.ofProcess.end())
      return 0.0;
    const Timeline& times = lanes[lane->second];
    return std::max(0.0, static_cast<double>(times.delayAt(each.end) - times.delayAt(each.begin)));
  };
  bool any = false;
  for (CostedProcess& process : into.processes) {
    for (CostedIteration& each : process.iterations) {
      each.costNs.push_back(costOf(process, each));
      any = any || each.costNs.back() > 0;
    }
  }
  if (any) {
    into.probes.push_back(probe);
    into.unrecorded.push_back(unrecorded / recorded);
    return;
  }
  for (CostedProcess& process : into.processes)
    for (CostedIteration& each : process.iterations)
      each.costNs.pop_back();
}

}  // namespace

Result<IterationCosts> readIterationCosts(const store::Database& trace, const CostTable& known) {
  IterationCosts costs;
  SONDE_TRY_ASSIGN(costs.processes, readProcesses(trace));
  for (CostedProcess& process : costs.processes)
    dropFirstOfBlocks(process);
  SONDE_TRY_ASSIGN(const RecordedProgram program, correction::readProgram(trace, known));
  for (const std::string& probe : probesOf(known))
    addCostsOf(probe, known, program, costs);
  return costs;
}

bool isOn(const std::string& probe, const CostedIteration& iteration) noexcept {
  return (iteration.mask & model::probeBit(probe)) != 0;
}

}  // namespace sonde::engine::calibration
