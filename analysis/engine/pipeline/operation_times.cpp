#include "analysis/engine/pipeline/operation_times.h"

#include "analysis/engine/pipeline/divided_work.h"

#include <algorithm>
#include <cmath>

namespace sonde::engine::pipeline {
namespace {

std::size_t indexOf(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// The mean of both middle ones, of an even number.
double middleOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

template <typename Mean>
double sumOf(const std::vector<Mean>& chunks) {
  double sum = 0;
  for (const Mean& each : chunks)
    sum += each.value();
  return sum;
}

}  // namespace

std::pair<double, double> messageFactor(double microbatchSize) {
  return {(1 + microbatchSize) / 2, std::abs(1 - microbatchSize) / (1 + microbatchSize)};
}

std::vector<std::vector<std::size_t>> sameStages(std::int64_t now, std::int64_t then) {
  std::vector<std::vector<std::size_t>> found(indexOf(then));
  if (then >= now) {
    for (std::int64_t stage = 0; stage < then; ++stage)
      found[indexOf(stage)].push_back(indexOf(stage * now / then));
  } else {
    for (std::int64_t stage = 0; stage < now; ++stage)
      found[indexOf(stage * then / now)].push_back(indexOf(stage));
  }
  return found;
}

OperationTimes::OperationTimes(const PipelineJob& job, const Target& target)
    : job_(job), target_(target), copies_(job.copies()) {
  const std::size_t stages = indexOf(job.shape.stages);
  const std::size_t ofRun = indexOf(2 * job.shape.chunks * job.shape.microbatches);
  places_.assign(job.iterations.size() * job.copies() * stages * ofRun, 0);
  std::size_t first = 0;
  for (CopyTimes& each : copies_)
    for (auto& direction : each.own)
      direction.assign(stages, std::vector<Mean>(indexOf(job.shape.chunks)));
  const auto add = [](Mean& mean, double ns) {
    mean.sum += ns;
    ++mean.count;
  };
  for (const PipelineIteration& iteration : job.iterations)
    for (std::size_t copy = 0; copy < job.copies(); ++copy)
      for (std::size_t stage = 0; stage < stages; ++stage, first += ofRun) {
        const auto& operations = iteration.runs[copy][stage].operations;
        for (std::size_t i = 0; i < operations.size(); ++i) {
          const StageOperation& each = operations[i];
          const std::size_t direction = each.turn.isForward ? 1 : 0;
          CopyTimes& times = copies_[copy];
          add(times.own[direction][stage][indexOf(each.turn.chunk)], each.own.ns);
          if (each.send)
            add(times.send[direction], each.send->ns);
          if (each.receive)
            add(times.receive[direction], each.receive->ns);
          const std::size_t chunk =
              direction * indexOf(job.shape.chunks) + indexOf(each.turn.chunk);
          places_[first + chunk * indexOf(job.shape.microbatches) + indexOf(each.turn.microbatch)] =
              i;
        }
      }
  for (std::size_t copy = 0; copy < job.lagNs.size(); ++copy)
    for (const auto& [between, ns] : job.lagNs[copy])
      add(copies_[copy].lag, ns);
  for (std::size_t direction = 0; direction < 2; ++direction)
    if (job.shape.stages != target.shape.stages)
      divideWork(direction);
}

const StageOperation& OperationTimes::measured(std::size_t copy,
                                               std::size_t stage,
                                               std::size_t chunk,
                                               const Turn& turn) const {
  const std::size_t chunks = indexOf(job_.shape.chunks);
  const std::size_t microbatches = indexOf(job_.shape.microbatches);
  const std::size_t run =
      (indexOf(turn.iteration) * job_.copies() + copy) * indexOf(job_.shape.stages) + stage;
  const std::size_t ofChunk = (turn.isForward ? chunks : 0) + chunk;
  const std::size_t place = places_[(run * 2 * chunks + ofChunk) * microbatches +
                                    indexOf(turn.microbatch) % microbatches];
  return job_.iterations[indexOf(turn.iteration)].runs[copy][stage].operations[place];
}

double OperationTimes::meanOf(const CopyTimes& times, std::size_t stage, const Turn& turn) const {
  const std::size_t direction = turn.isForward ? 1 : 0;
  const double ofStage = job_.shape.stages == target_.shape.stages
                             ? sumOf(times.own[direction][stage])
                             : times.then[direction][stage];
  return ofStage / static_cast<double>(target_.shape.chunks);
}

void OperationTimes::divideWork(std::size_t direction) {
  const auto sources = sameStages(job_.shape.stages, target_.shape.stages);
  std::vector<double> work;  // by stage
  for (std::size_t stage = 0; stage < indexOf(job_.shape.stages); ++stage) {
    std::vector<double> ofCopies;
    for (const CopyTimes& each : copies_)
      ofCopies.push_back(sumOf(each.own[direction][stage]));
    work.push_back(middleOf(std::move(ofCopies)));
  }
  const std::vector<double> then = dividedWork(work, target_.shape.stages);
  const auto slowness = [&](const CopyTimes& copy, const std::vector<std::size_t>& stages) {
    double own = 0;
    double usual = 0;
    for (const std::size_t stage : stages) {
      own += sumOf(copy.own[direction][stage]);
      usual += work[stage];
    }
    return usual > 0 ? own / usual : 1;
  };
  for (CopyTimes& each : copies_)
    for (std::size_t stage = 0; stage < then.size(); ++stage) {
      // Other stages at the place of a slow rank are on ranks of their own.
      const bool isFirst = stage == 0 || sources[stage - 1] != sources[stage];
      each.then[direction].push_back(then[stage] * (isFirst ? slowness(each, sources[stage]) : 1));
    }
}

Span OperationTimes::own(std::size_t copy, std::size_t stage, const Turn& turn) const {
  const bool hasSameParts =
      job_.shape.stages == target_.shape.stages && job_.shape.chunks == target_.shape.chunks;
  const std::size_t from =
      indexOf(static_cast<std::int64_t>(stage) * job_.shape.stages / target_.shape.stages);
  const std::size_t chunk = indexOf(turn.chunk % job_.shape.chunks);
  const Span& like = measured(copy, from, chunk, turn).own;
  if (hasSameParts)
    return {like.ns * target_.microbatchSize, like.row};
  const double mean = copies_[copy].own[turn.isForward ? 1 : 0][from][chunk].value();
  const double factor = mean > 0 ? like.ns / mean : 1;
  return {meanOf(copies_[copy], stage, turn) * factor * target_.microbatchSize, like.row};
}

Span OperationTimes::send(std::size_t copy, std::size_t stage, const Turn& turn) const {
  const std::size_t direction = turn.isForward ? 1 : 0;
  const std::size_t from = stage % indexOf(job_.shape.stages);
  const auto& like = measured(copy, from, indexOf(turn.chunk % job_.shape.chunks), turn).send;
  if (isOwn() && like)
    return *like;
  const double factor = job_.hasTransfers ? messageFactor(target_.microbatchSize).first : 1;
  return {copies_[copy].send[direction].value() * factor, like ? like->row : 0};
}

Span OperationTimes::receive(std::size_t copy, std::size_t stage, const Turn& turn) const {
  const std::size_t direction = turn.isForward ? 1 : 0;
  const std::size_t from = stage % indexOf(job_.shape.stages);
  const auto& like = measured(copy, from, indexOf(turn.chunk % job_.shape.chunks), turn).receive;
  if (isOwn() && like)
    return *like;
  return {copies_[copy].receive[direction].value() * messageFactor(target_.microbatchSize).first,
          like ? like->row : 0};
}

// A call takes as long for any size.
double OperationTimes::arrivalNs(std::size_t copy,
                                 std::size_t from,
                                 std::size_t to,
                                 bool isForward) const {
  if (job_.lagNs.empty())
    return 0;
  const auto& lags = job_.lagNs[copy];
  const auto known = lags.find({static_cast<std::int64_t>(from), static_cast<std::int64_t>(to)});
  const bool isKnown = job_.shape.stages == target_.shape.stages && known != lags.end();
  const double now = isKnown ? known->second : copies_[copy].lag.value();
  const double call = std::min(now, copies_[copy].send[isForward ? 1 : 0].value());
  return call + (now - call) * messageFactor(target_.microbatchSize).first;
}

}  // namespace sonde::engine::pipeline
