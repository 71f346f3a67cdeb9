// The iterations of ImageBuilder, and the records that belong to the one that is open.
#include "analysis/ingest/image_builder.h"
#include "analysis/ingest/record_walk.h"
#include "collector/wire/iteration_keys.h"

#include <algorithm>

namespace sonde::ingest {
namespace {

model::OptionalInt known(std::uint64_t value) {
  return value == 0 ? model::OptionalInt{} : static_cast<std::int64_t>(value);
}

}  // namespace

void ImageBuilder::beginIteration(const Thread& thread, const model::Slice& slice) {
  OpenIteration iteration;
  iteration.slice = slice.id;
  iteration.thread = thread.index;
  iteration.number = nextIteration_++;
  iteration.startNs = slice.startNs;
  iterations_.push_back(iteration);
}

void ImageBuilder::endIteration(const model::Slice& slice) {
  constexpr std::size_t kPast = 64;
  const auto open =
      std::find_if(iterations_.begin(), iterations_.end(), [&](const OpenIteration& iteration) {
        return iteration.slice == slice.id;
      });
  if (open == iterations_.end())
    return;
  model::Iteration row;
  row.processId = process_.row.id;
  row.number = open->number;
  row.startNs = slice.startNs;
  row.durNs = slice.durNs;
  row.probeMask = probeMask_;
  row.samples = known(open->samples);
  row.tokens = known(open->tokens);
  if (open->flops > 0)
    row.flops = open->flops;
  row.sliceId = slice.id;
  sink_.add(row);
  if (pastIterations_.size() == kPast)
    pastIterations_.erase(pastIterations_.begin());
  pastIterations_.push_back({open->number, slice.startNs, slice.startNs + slice.durNs.value_or(0)});
  iterations_.erase(open);
}

void ImageBuilder::tellIteration(TrackScope& scope, std::string_view key, std::int64_t value) {
  if (key == SONDE_ITERATION_NUMBER)
    numberIteration(scope.slice.id, value);
  else if (key == SONDE_ITERATION_COMPLETE && value == 0)
    dropIteration(scope);
}

// The torch probe opens an iteration as soon as the one before has ended. When no step came,
// because the program ended or an evaluation began, the stretch is a range and no iteration.
void ImageBuilder::dropIteration(TrackScope& scope) {
  const auto open =
      std::find_if(iterations_.begin(), iterations_.end(), [&](const OpenIteration& iteration) {
        return iteration.slice == scope.slice.id;
      });
  if (open == iterations_.end())
    return;
  nextIteration_ = open->number;
  iterations_.erase(open);
  scope.slice.kind = model::SliceKind::Range;
  scope.changed = true;
}

void ImageBuilder::numberIteration(model::SliceId slice, std::int64_t number) {
  constexpr std::int64_t kHighest = std::int64_t{1} << 53;
  if (number < 0 || number > kHighest)
    return;
  for (OpenIteration& iteration : iterations_) {
    if (iteration.slice != slice)
      continue;
    iteration.number = number;
    nextIteration_ = number + 1;
  }
}

// The innermost iteration that is open on the thread, else the one of the process that began last.
ImageBuilder::OpenIteration* ImageBuilder::iterationOf(const Thread& thread) {
  const auto own =
      std::find_if(iterations_.rbegin(), iterations_.rend(), [&](const OpenIteration& iteration) {
        return iteration.thread == thread.index;
      });
  if (own != iterations_.rend())
    return &*own;
  return iterations_.empty() ? nullptr : &iterations_.back();
}

model::OptionalInt ImageBuilder::iterationAt(const Thread& thread, std::int64_t ns) {
  const OpenIteration* open = iterationOf(thread);
  if (open != nullptr && open->startNs <= ns)
    return open->number;
  const auto past = std::find_if(
      pastIterations_.rbegin(), pastIterations_.rend(), [&](const PastIteration& iteration) {
        return iteration.startNs <= ns && ns <= iteration.endNs;
      });
  return past == pastIterations_.rend() ? model::OptionalInt{} : past->number;
}

void ImageBuilder::onIterationInfo(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::IterationInfo>(at);
  advance(thread, record.ticks);
  remember(thread, model::Owner::Slice, 0);
  OpenIteration* iteration = iterationOf(thread);
  if (iteration == nullptr) {
    ++counts_.unbalanced;
    return;
  }
  if (record.samples != 0)
    iteration->samples = record.samples;
  if (record.tokens != 0)
    iteration->tokens = record.tokens;
  if (record.flops > 0)
    iteration->flops = record.flops;
}

void ImageBuilder::onScalar(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Scalar>(at);
  model::Scalar row;
  row.processId = process_.row.id;
  row.nameId = dictionary_.name(sink_, record.header.subject);
  row.value = record.value;
  advance(thread, record.ticks);
  row.tsNs = time_.toNs(record.ticks);  // a value that came late from a device is of its own time
  row.iteration = iterationAt(thread, row.tsNs);
  sink_.add(row);
  remember(thread, model::Owner::Slice, 0);
}

}  // namespace sonde::ingest
