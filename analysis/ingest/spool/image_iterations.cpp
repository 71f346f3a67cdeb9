// ImageBuilder's iterations, and the records that belong to the open one.
#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/wire_words.h"
#include "analysis/ingest/spool/image_builder.h"
#include "analysis/ingest/spool/tensor_rows.h"
#include "collector/wire/iteration_keys.h"

#include <algorithm>

namespace sonde::ingest {

void ImageBuilder::beginIteration(const Thread& thread, const model::Slice& slice) {
  ThreadIteration iteration;
  iteration.thread = thread.index;
  iteration.isAwaiting = slice.category == probeWord(wire::Probe::Torch);
  iteration.row.processId = process_.row.id;
  iteration.row.number = nextIteration_++;
  iteration.row.startNs = slice.startNs;
  iteration.row.probeMask = probeMask_;
  iteration.row.sliceId = slice.id;
  iterations_.push_back(iteration);
  ++counts_.iterations;
}

void ImageBuilder::maskIteration(model::SliceId slice, std::uint32_t mask) {
  for (ThreadIteration& iteration : iterations_) {
    if (slice && iteration.row.sliceId == slice)
      iteration.row.probeMask = mask;
  }
}

void ImageBuilder::takeProbes(model::SliceId slice, std::span<const std::byte> bytes) {
  tellsProbes_ = true;
  if (bytes.size() < sizeof(wire::IterationProbes)) {
    ++counts_.damaged;
    maskIteration(slice, 0);
    return;
  }
  maskIteration(slice, loadRecord<wire::IterationProbes>(bytes.data()).mask);
}

// Ignores an iteration without a row, which did not reach its end.
void ImageBuilder::addProbeCalls(const Thread& thread,
                                 model::SliceId slice,
                                 std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(wire::IterationProbes) || pastIterations_.empty() ||
      pastIterations_.back().row.sliceId != slice || !pastIterations_.back().row.id)
    return;
  const std::size_t told = loadRecord<wire::IterationProbes>(bytes.data()).count;
  bytes = bytes.subspan(sizeof(wire::IterationProbes));
  const std::size_t count = std::min(told, bytes.size() / sizeof(wire::ProbeCalls));
  counts_.damaged += count < told ? 1 : 0;
  for (std::size_t at = 0; at < count; ++at) {
    const auto calls = loadRecord<wire::ProbeCalls>(bytes.data() + at * sizeof(wire::ProbeCalls));
    model::ProbeCall row;
    row.threadId = thread.row.id;
    row.iterationId = pastIterations_.back().row.id;
    row.probe = probeWord(calls.probe);
    row.recorded = calls.recorded;
    row.unrecorded = calls.unrecorded;
    sink_.add(row);
  }
}

void ImageBuilder::takeNumberBack() {
  iterations_.back().isNumbered = false;
  nextIteration_ = iterations_.back().row.number;
}

// An awaiting iteration becomes real when something of the next round begins in it. Work after a
// step in the loop's body (logging, a checkpoint) still belongs to the round before. A micro-step
// begins together with its iteration.
void ImageBuilder::beginInsideIteration(const Thread& thread, model::SliceKind kind) {
  if (kind == model::SliceKind::MicroStep || kind == model::SliceKind::Checkpoint)
    return;
  for (ThreadIteration& iteration : iterations_)
    if (iteration.thread == thread.index)
      iteration.isAwaiting = false;
}

void ImageBuilder::endIteration(const model::Slice& slice) {
  constexpr std::size_t kPast = 64;
  const auto open =
      std::find_if(iterations_.begin(), iterations_.end(), [&](const ThreadIteration& iteration) {
        return iteration.row.sliceId == slice.id;
      });
  if (open == iterations_.end())
    return;
  open->row.startNs = slice.startNs;
  open->row.durNs = slice.durNs;
  if (tellsProbes_ && !slice.durNs)
    open->row.probeMask = 0;  // its end, which has the mask, is missing
  if (open->isNumbered)
    open->row.id = sink_.add(open->row);
  if (pastIterations_.size() == kPast) {
    const auto same = std::find_if(
        pastIterations_.begin(), pastIterations_.end(), [&](const ThreadIteration& past) {
          return past.thread == open->thread;
        });
    pastIterations_.erase(same == pastIterations_.end() ? pastIterations_.begin() : same);
  }
  pastIterations_.push_back(*open);
  iterations_.erase(open);
}

void ImageBuilder::tellIteration(TrackScope& scope, std::string_view key, std::int64_t value) {
  if (key == SONDE_ITERATION_NUMBER)
    numberIteration(scope.slice.id, value);
  else if (key == SONDE_ITERATION_COMPLETE && value == 0)
    dropIteration(scope);
}

// The torch probe opens an iteration as soon as the previous one has ended. If no step follows,
// because the program ended or an evaluation began, the stretch is a range and not an iteration.
void ImageBuilder::dropIteration(TrackScope& scope) {
  const auto open =
      std::find_if(iterations_.begin(), iterations_.end(), [&](const ThreadIteration& iteration) {
        return iteration.row.sliceId == scope.slice.id;
      });
  if (open == iterations_.end())
    return;
  if (open->isNumbered)
    nextIteration_ = open->row.number;
  iterations_.erase(open);
  scope.slice.kind = model::SliceKind::Range;
  scope.changed = true;
}

void ImageBuilder::numberIteration(model::SliceId slice, std::int64_t number) {
  constexpr std::int64_t kHighest = std::int64_t{1} << 53;
  if (number < 0 || number > kHighest)
    return;
  for (ThreadIteration& iteration : iterations_) {
    if (iteration.row.sliceId != slice)
      continue;
    iteration.row.number = number;
    iteration.isNumbered = true;
    nextIteration_ = number + 1;
  }
}

// The innermost one that is open on the thread and had begun by `ns`, or nullptr. One that awaits
// its first event only counts if the thread had none before.
ImageBuilder::ThreadIteration* ImageBuilder::openIteration(const Thread& thread, std::int64_t ns) {
  const auto own =
      std::find_if(iterations_.rbegin(), iterations_.rend(), [&](const ThreadIteration& iteration) {
        return iteration.thread == thread.index && iteration.row.startNs <= ns;
      });
  if (own == iterations_.rend())
    return nullptr;
  return own->isAwaiting && pastIteration(thread, ns) != nullptr ? nullptr : &*own;
}

// The last one that the thread ended and that had begun by `ns`, or nullptr.
ImageBuilder::ThreadIteration* ImageBuilder::pastIteration(const Thread& thread, std::int64_t ns) {
  const auto own = std::find_if(
      pastIterations_.rbegin(), pastIterations_.rend(), [&](const ThreadIteration& iteration) {
        return iteration.thread == thread.index && iteration.row.startNs <= ns;
      });
  return own == pastIterations_.rend() ? nullptr : &*own;
}

// For a thread without iterations: the process's iteration that began last, or was open at `ns`.
ImageBuilder::ThreadIteration* ImageBuilder::iterationOfOthers(std::int64_t ns) {
  if (!iterations_.empty() && iterations_.back().row.startNs <= ns)
    return &iterations_.back();
  const auto past = std::find_if(
      pastIterations_.rbegin(), pastIterations_.rend(), [&](const ThreadIteration& iteration) {
        return iteration.row.startNs <= ns &&
               ns <= iteration.row.startNs + iteration.row.durNs.value_or(0);
      });
  return past == pastIterations_.rend() ? nullptr : &*past;
}

ImageBuilder::ThreadIteration* ImageBuilder::iterationOf(const Thread& thread, std::int64_t ns) {
  if (ThreadIteration* const open = openIteration(thread, ns))
    return open;
  ThreadIteration* const past = pastIteration(thread, ns);
  return past != nullptr ? past : iterationOfOthers(ns);
}

void ImageBuilder::onIterationInfo(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::IterationInfo>(at);
  const std::int64_t ns = advance(thread, record.ticks);
  remember(thread, model::Owner::Slice, 0);
  ThreadIteration* const iteration = iterationOf(thread, ns);
  if (iteration == nullptr) {
    ++counts_.strayInfos;
    return;
  }
  model::Iteration& row = iteration->row;
  if (record.samples != 0)
    row.samples = static_cast<std::int64_t>(record.samples);
  if (record.tokens != 0)
    row.tokens = static_cast<std::int64_t>(record.tokens);
  if (record.flops > 0)
    row.flops = record.flops;
  if (row.id)  // it has ended and is stored
    sink_.update(row);
}

void ImageBuilder::onScalar(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Scalar>(at);
  model::Scalar row;
  row.processId = process_.row.id;
  row.nameId = dictionary_.name(sink_, record.header.subject);
  row.value = record.value;
  advance(thread, record.ticks);
  row.tsNs = time_.toNs(record.ticks);  // a late value from a device belongs to its own time
  row.iteration = numberAt(thread, row.tsNs);
  sink_.add(row);
  remember(thread, model::Owner::Slice, 0);
}

// The number of the iteration at that time, if any.
model::OptionalInt ImageBuilder::numberAt(const Thread& thread, std::int64_t ns) {
  const ThreadIteration* const iteration = iterationOf(thread, ns);
  return iteration != nullptr && iteration->isNumbered ? model::OptionalInt(iteration->row.number)
                                                       : std::nullopt;
}

void ImageBuilder::onTensor(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::TensorStatistics>(at);
  model::Tensor row;
  if (!readTensor({at, record.header.size}, row)) {
    ++counts_.damaged;
    return;
  }
  row.processId = process_.row.id;
  row.nameId = dictionary_.name(sink_, record.header.subject);
  row.collection = dictionary_.text(record.collection);
  row.dtype = dictionary_.text(record.dtype);
  row.shape = dictionary_.text(record.shape);
  if (const std::string_view file = dictionary_.text(record.file); !file.empty())
    row.file = file;
  advance(thread, record.ticks);
  row.tsNs = time_.toNs(record.ticks);
  row.iteration = numberAt(thread, row.tsNs);
  sink_.add(row);
  remember(thread, model::Owner::Slice, 0);
}

}  // namespace sonde::ingest
