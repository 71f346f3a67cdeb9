#include "analysis/engine/operations/step_meetings.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace sonde::engine::operations {
namespace {

using model::OperationType;
using Place = std::pair<std::int64_t, std::int64_t>;  // data-parallel rank, stage

// The number of a worker's sends or receives, without those at an end of the pipeline.
std::int64_t countOf(const StepParts& parts,
                     const Direction& direction,
                     std::uint32_t worker,
                     bool isSend,
                     std::size_t withPartner) {
  const WorkerOperations& all = parts.workers[worker];
  const std::size_t transfers = all.of(isSend ? direction.send : direction.receive).size();
  const bool isOneEach = transfers == all.of(direction.compute).size();
  return static_cast<std::int64_t>(withPartner == 0 || isOneEach ? withPartner : transfers);
}

// Returns the number of transfers of this direction that should have a partner.
std::int64_t pairTransfers(const StepParts& parts, const Direction& direction, StepNeeds& into) {
  std::map<Place, std::uint32_t> places;
  for (std::uint32_t index = 0; index < parts.workers.size(); ++index)
    places.emplace(Place(parts.rows.workers[index].dataParallel, parts.rows.workers[index].stage),
                   index);
  const std::int64_t stages = parts.pipeline.stages;
  const std::int64_t distance = direction.isForward ? 1 : stages - 1;
  std::int64_t transfers = 0;
  const auto ofWorker = [&](std::uint32_t index, bool isSend) {
    return parts.workers[index].transfersOf(
        direction, isSend, parts.step, parts.rows.workers[index].stage, parts.pipeline);
  };
  for (const auto& [place, index] : places) {
    const auto sends = ofWorker(index, true);
    transfers += countOf(parts, direction, index, true, sends.size());
    transfers += countOf(parts, direction, index, false, ofWorker(index, false).size());
    const auto to = places.find(Place(place.first, (place.second + distance) % stages));
    if (to == places.end())
      continue;
    const auto receives = ofWorker(to->second, false);
    for (std::size_t n = 0; n < std::min(sends.size(), receives.size()); ++n)
      into.meetings.push_back({sends[n].transfer, receives[n].transfer});
  }
  return transfers;
}

void leaveOutUnpaired(const StepParts& parts, std::int64_t transfers, StepNeeds& into) {
  into.isLeftOut.assign(parts.step.operations.size(), false);
  for (const WorkerOperations& worker : parts.workers)
    for (const Direction& direction : kDirections)
      for (const OperationType type : {direction.send, direction.receive})
        for (const std::uint32_t index : worker.of(type))
          into.isLeftOut[index] = true;
  for (const auto& meeting : into.meetings)
    for (const std::uint32_t member : meeting)
      into.isLeftOut[member] = false;
  const auto pairs = static_cast<std::int64_t>(into.meetings.size());
  into.unpaired = transfers - 2 * pairs;
}

// The n-th operations of this type of all workers of a group meet.
template <typename GroupOf>
void meet(const StepParts& parts, OperationType type, const GroupOf& groupOf, StepNeeds& into) {
  std::map<std::pair<std::int64_t, std::size_t>, std::vector<std::uint32_t>> meetings;
  for (std::uint32_t index = 0; index < parts.workers.size(); ++index) {
    const std::optional<std::int64_t> group = groupOf(parts.rows.workers[index]);
    const Indices& operations = parts.workers[index].of(type);
    for (std::size_t n = 0; group && n < operations.size(); ++n)
      meetings[{*group, n}].push_back(operations[n]);
  }
  for (auto& [key, members] : meetings)
    if (members.size() > 1)
      into.meetings.push_back(std::move(members));
}

}  // namespace

void addMeetings(const StepParts& parts, StepNeeds& into) {
  std::int64_t transfers = 0;
  for (const Direction& direction : kDirections)
    transfers += pairTransfers(parts, direction, into);
  leaveOutUnpaired(parts, transfers, into);
  for (const OperationType type :
       {OperationType::ParamsAllGather, OperationType::GradsReduceScatter})
    meet(
        parts, type, [](const Worker& worker) { return std::optional(worker.stage); }, into);
  const auto embeddings = [&](const Worker& worker) {
    const bool isEnd = worker.stage == 0 || worker.stage + 1 == parts.pipeline.stages;
    return isEnd ? std::optional(worker.dataParallel) : std::nullopt;
  };
  meet(parts, OperationType::EmbeddingAllReduce, embeddings, into);
  const auto all = [](const Worker&) { return std::optional<std::int64_t>(0); };
  meet(parts, OperationType::Clip, all, into);
}

}  // namespace sonde::engine::operations
