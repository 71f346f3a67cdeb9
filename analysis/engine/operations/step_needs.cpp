#include "analysis/engine/operations/step_needs.h"

#include "analysis/engine/operations/step_meetings.h"
#include "analysis/engine/operations/worker_operations.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace sonde::engine::operations {
namespace {

using model::OperationType;

class NeedsFinder {
 public:
  NeedsFinder(const OperationRows& rows, const Step& step) : rows_(rows), step_(step) {
    pipeline_.stages = rows.stages;
    workers_.resize(rows.workers.size());
    for (std::uint32_t index = 0; index < step.operations.size(); ++index) {
      const Operation& each = step.operations[index];
      workers_[each.worker].add(index, each.type);
      pipeline_.lastChunk = std::max(pipeline_.lastChunk, each.chunk);
    }
  }

  StepNeeds find() {
    for (std::uint32_t worker = 0; worker < workers_.size(); ++worker)
      addWorker(worker);
    addMeetings({rows_, step_, workers_, pipeline_}, found_);
    dropNeedsOfLeftOut();
    return std::move(found_);
  }

 private:
  const Operation& at(std::uint32_t index) const { return step_.operations[index]; }
  void need(std::uint32_t from, std::uint32_t to) { found_.needs.push_back({from, to, false}); }
  void chain(const Indices& indices) {
    for (std::size_t next = 1; next < indices.size(); ++next)
      found_.needs.push_back({indices[next - 1], indices[next], true});
  }
  // The operations of these types, by begin.
  Indices merged(const WorkerOperations& worker, std::initializer_list<OperationType> types) const {
    Indices all;
    for (const OperationType type : types)
      all.insert(all.end(), worker.of(type).begin(), worker.of(type).end());
    std::sort(all.begin(), all.end());
    return all;
  }

  void addWorker(std::uint32_t index);
  void addTransfers(std::uint32_t index, const Direction& direction);
  void addFirstBackward(const WorkerOperations& worker, const Indices& computes);
  void addGathers(const WorkerOperations& worker);
  void addEnd(const WorkerOperations& worker, const Indices& computes);
  std::uint32_t neededByGradients(const WorkerOperations& worker,
                                  std::uint32_t gradients,
                                  std::uint32_t last) const;
  void dropNeedsOfLeftOut();

  const OperationRows& rows_;
  const Step& step_;
  Pipeline pipeline_;
  std::vector<WorkerOperations> workers_;
  StepNeeds found_;
};

void NeedsFinder::addWorker(std::uint32_t index) {
  const WorkerOperations& worker = workers_[index];
  const Indices computes = merged(
      worker, {OperationType::Forward, OperationType::Backward, OperationType::GarbageCollection});
  chain(computes);
  for (const Direction& direction : kDirections)
    addTransfers(index, direction);
  addFirstBackward(worker, computes);
  addGathers(worker);
  addEnd(worker, computes);
}

// A receive waits for the forward (backward) before its own: that frees the buffer.
void NeedsFinder::addTransfers(std::uint32_t index, const Direction& direction) {
  const WorkerOperations& worker = workers_[index];
  const std::int64_t stage = rows_.workers[index].stage;
  Indices sends;
  for (const auto& [send, compute] : worker.transfersOf(direction, true, step_, stage, pipeline_)) {
    need(compute, send);
    sends.push_back(send);
  }
  Indices receives;
  const Indices& ofType = worker.of(direction.compute);
  for (const auto& [receive, compute] :
       worker.transfersOf(direction, false, step_, stage, pipeline_)) {
    need(receive, compute);
    receives.push_back(receive);
    const auto own = std::lower_bound(ofType.begin(), ofType.end(), compute);
    if (own != ofType.begin())
      need(*std::prev(own), receive);
  }
  chain(sends);
  chain(receives);
}

// Backward transfers begin once the second-last forward before the first backward is done.
void NeedsFinder::addFirstBackward(const WorkerOperations& worker, const Indices& computes) {
  const Indices& backwards = worker.of(OperationType::Backward);
  if (backwards.empty())
    return;
  Indices forwards;
  for (const std::uint32_t index : computes)
    if (index < backwards.front() && at(index).type == OperationType::Forward)
      forwards.push_back(index);
  if (forwards.size() < 2)
    return;
  const std::uint32_t second = forwards[forwards.size() - 2];
  for (const OperationType type : {OperationType::BackwardSend, OperationType::BackwardReceive})
    if (!worker.of(type).empty())
      need(second, worker.of(type).front());
}

void NeedsFinder::addGathers(const WorkerOperations& worker) {
  const Indices& forwards = worker.of(OperationType::Forward);
  for (const std::uint32_t gather : worker.of(OperationType::ParamsAllGather)) {
    const auto ofChunk = std::find_if(forwards.begin(), forwards.end(), [&](std::uint32_t each) {
      return at(each).chunk == at(gather).chunk;
    });
    if (!forwards.empty())
      need(gather, ofChunk == forwards.end() ? forwards.front() : *ofChunk);
  }
}

// The last operation before the gradients of a chunk can be reduced: its last backward if that
// happened while others went on, else the worker's last one.
std::uint32_t NeedsFinder::neededByGradients(const WorkerOperations& worker,
                                             std::uint32_t gradients,
                                             std::uint32_t last) const {
  const Indices& backwards = worker.of(OperationType::Backward);
  const auto ofChunk = std::find_if(backwards.rbegin(), backwards.rend(), [&](std::uint32_t each) {
    return at(each).chunk == at(gradients).chunk;
  });
  if (ofChunk == backwards.rend() || *ofChunk == backwards.back())
    return last;
  return at(gradients).beginNs < at(backwards.back()).endNs() ? *ofChunk : last;
}

// Collectives after the computing, then the clipping, then the optimizer.
void NeedsFinder::addEnd(const WorkerOperations& worker, const Indices& computes) {
  const Indices collectives = merged(worker,
                                     {OperationType::ParamsAllGather,
                                      OperationType::GradsReduceScatter,
                                      OperationType::LayernormAllReduce,
                                      OperationType::EmbeddingAllReduce});
  chain(collectives);
  const Indices finals = merged(worker, {OperationType::Clip});
  const Indices optimizers = merged(worker, {OperationType::Optimizer});
  chain(finals);
  chain(optimizers);
  if (!finals.empty() && !optimizers.empty())
    need(finals.back(), optimizers.front());
  const Indices& first = finals.empty() ? optimizers : finals;
  if (!first.empty() && !collectives.empty())
    need(collectives.back(), first.front());
  if (computes.empty())
    return;
  const std::uint32_t last = computes.back();
  if (!first.empty())
    need(last, first.front());
  for (const std::uint32_t index : collectives) {
    if (at(index).type == OperationType::GradsReduceScatter)
      need(neededByGradients(worker, index, last), index);
    else if (at(index).type != OperationType::ParamsAllGather)
      need(last, index);
  }
}

void NeedsFinder::dropNeedsOfLeftOut() {
  std::erase_if(found_.needs, [&](const Need& each) {
    return found_.isLeftOut[each.from] || found_.isLeftOut[each.to];
  });
}

}  // namespace

StepNeeds needsOf(const OperationRows& rows, const Step& step) {
  return NeedsFinder(rows, step).find();
}

}  // namespace sonde::engine::operations
