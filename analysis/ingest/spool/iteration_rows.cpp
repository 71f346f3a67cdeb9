#include "analysis/ingest/spool/iteration_rows.h"

#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/spool/tensor_rows.h"
#include "collector/wire/iteration_keys.h"

#include <algorithm>

namespace sonde::ingest {

void IterationRows::begin(const ImageThread& thread, const model::Slice& slice) {
  ThreadIteration iteration;
  iteration.thread = thread.index;
  iteration.isAwaiting = slice.category == probeWord(wire::Probe::Torch);
  iteration.row.processId = image_.process.row.id;
  iteration.row.number = next_++;
  iteration.row.startNs = slice.startNs;
  iteration.row.probeMask = probeMask_;
  iteration.row.sliceId = slice.id;
  open_.push_back(iteration);
  ++image_.counts.iterations;
}

IterationRows::Iterations::iterator IterationRows::find(model::SliceId slice) {
  return std::find_if(open_.begin(), open_.end(), [&](const ThreadIteration& iteration) {
    return iteration.row.sliceId == slice;
  });
}

void IterationRows::setMask(model::SliceId slice, std::uint32_t mask) {
  if (const auto open = find(slice); slice && open != open_.end())
    open->row.probeMask = mask;
}

void IterationRows::takeProbes(model::SliceId slice, std::span<const std::byte> bytes) {
  reportsProbes_ = true;
  if (bytes.size() < sizeof(wire::IterationProbes)) {
    ++image_.counts.damaged;
    setMask(slice, 0);
    return;
  }
  setMask(slice, loadRecord<wire::IterationProbes>(bytes.data()).mask);
}

// Ignores an iteration without a row, which did not reach its end.
void IterationRows::addProbeCalls(const ImageThread& thread,
                                  model::SliceId slice,
                                  std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(wire::IterationProbes) || past_.empty() ||
      past_.back().row.sliceId != slice || !past_.back().row.id)
    return;
  const std::size_t told = loadRecord<wire::IterationProbes>(bytes.data()).count;
  bytes = bytes.subspan(sizeof(wire::IterationProbes));
  const std::size_t count = std::min(told, bytes.size() / sizeof(wire::ProbeCalls));
  image_.counts.damaged += count < told ? 1 : 0;
  for (std::size_t at = 0; at < count; ++at) {
    const auto calls = loadRecord<wire::ProbeCalls>(bytes.data() + at * sizeof(wire::ProbeCalls));
    model::ProbeCall row;
    row.threadId = thread.row.id;
    row.iterationId = past_.back().row.id;
    row.probe = probeWord(calls.probe);
    row.recorded = calls.recorded;
    row.unrecorded = calls.unrecorded;
    image_.sink.add(row);
  }
}

void IterationRows::takeNumberBack() {
  open_.back().isNumbered = false;
  next_ = open_.back().row.number;
}

// An awaiting iteration becomes real when something of the next round begins in it. Work after a
// step in the loop's body (logging, a checkpoint) still belongs to the round before. A micro-step
// begins together with its iteration.
void IterationRows::beginInside(const ImageThread& thread, model::SliceKind kind) {
  if (kind == model::SliceKind::MicroStep || kind == model::SliceKind::Checkpoint)
    return;
  for (ThreadIteration& iteration : open_)
    if (iteration.thread == thread.index)
      iteration.isAwaiting = false;
}

void IterationRows::end(const model::Slice& slice) {
  constexpr std::size_t kPast = 64;
  const auto open = find(slice.id);
  if (open == open_.end())
    return;
  open->row.startNs = slice.startNs;
  open->row.durNs = slice.durNs;
  if (reportsProbes_ && !slice.durNs)
    open->row.probeMask = 0;  // its end, which has the mask, is missing
  if (open->isNumbered)
    open->row.id = image_.sink.add(open->row);
  if (past_.size() == kPast) {
    const auto same = std::find_if(past_.begin(), past_.end(), [&](const ThreadIteration& past) {
      return past.thread == open->thread;
    });
    past_.erase(same == past_.end() ? past_.begin() : same);
  }
  past_.push_back(*open);
  open_.erase(open);
}

void IterationRows::readArg(TrackScope& scope, std::string_view key, std::int64_t value) {
  if (key == SONDE_ITERATION_NUMBER)
    setNumber(scope.slice.id, value);
  else if (key == SONDE_ITERATION_COMPLETE && value == 0)
    drop(scope);
}

// The torch probe opens an iteration as soon as the previous one has ended. If no step follows,
// because the program ended or an evaluation began, the stretch is a range and not an iteration.
void IterationRows::drop(TrackScope& scope) {
  const auto open = find(scope.slice.id);
  if (open == open_.end())
    return;
  if (open->isNumbered)
    next_ = open->row.number;
  open_.erase(open);
  scope.slice.kind = model::SliceKind::Range;
  scope.changed = true;
}

void IterationRows::setNumber(model::SliceId slice, std::int64_t number) {
  constexpr std::int64_t kHighest = std::int64_t{1} << 53;
  const auto open = find(slice);
  if (number < 0 || number > kHighest || open == open_.end())
    return;
  open->row.number = number;
  open->isNumbered = true;
  next_ = number + 1;
}

// The innermost one that is open on the thread and had begun by `ns`, or nullptr. One that awaits
// its first event only counts if the thread had none before.
IterationRows::ThreadIteration* IterationRows::openOn(const ImageThread& thread, std::int64_t ns) {
  const auto own = std::find_if(open_.rbegin(), open_.rend(), [&](const ThreadIteration& open) {
    return open.thread == thread.index && open.row.startNs <= ns;
  });
  if (own == open_.rend())
    return nullptr;
  return own->isAwaiting && pastOn(thread, ns) != nullptr ? nullptr : &*own;
}

// The last one that the thread ended and that had begun by `ns`, or nullptr.
IterationRows::ThreadIteration* IterationRows::pastOn(const ImageThread& thread, std::int64_t ns) {
  const auto own = std::find_if(past_.rbegin(), past_.rend(), [&](const ThreadIteration& past) {
    return past.thread == thread.index && past.row.startNs <= ns;
  });
  return own == past_.rend() ? nullptr : &*own;
}

// For a thread without iterations: the process's iteration that began last, or was open at `ns`.
IterationRows::ThreadIteration* IterationRows::ofOthers(std::int64_t ns) {
  if (!open_.empty() && open_.back().row.startNs <= ns)
    return &open_.back();
  const auto found = std::find_if(past_.rbegin(), past_.rend(), [&](const ThreadIteration& past) {
    return past.row.startNs <= ns && ns <= past.row.startNs + past.row.durNs.value_or(0);
  });
  return found == past_.rend() ? nullptr : &*found;
}

IterationRows::ThreadIteration* IterationRows::iterationAt(const ImageThread& thread,
                                                           std::int64_t ns) {
  if (ThreadIteration* const open = openOn(thread, ns))
    return open;
  ThreadIteration* const past = pastOn(thread, ns);
  return past != nullptr ? past : ofOthers(ns);
}

void IterationRows::onIterationInfo(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::IterationInfo>(at);
  const std::int64_t ns = image_.advance(thread, record.ticks);
  thread.remember(model::Owner::Slice, 0);
  ThreadIteration* const iteration = iterationAt(thread, ns);
  if (iteration == nullptr) {
    ++image_.counts.strayInfos;
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
    image_.sink.update(row);
}

void IterationRows::onScalar(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Scalar>(at);
  model::Scalar row;
  row.processId = image_.process.row.id;
  row.nameId = image_.name(record.header.subject);
  row.value = record.value;
  image_.advance(thread, record.ticks);
  // A late value from a device belongs to its own time.
  row.tsNs = image_.time.toNs(record.ticks);
  row.iteration = numberAt(thread, row.tsNs);
  image_.sink.add(row);
  thread.remember(model::Owner::Slice, 0);
}

// The number of the iteration at that time, if any.
model::OptionalInt IterationRows::numberAt(const ImageThread& thread, std::int64_t ns) {
  const ThreadIteration* const iteration = iterationAt(thread, ns);
  return iteration != nullptr && iteration->isNumbered ? model::OptionalInt(iteration->row.number)
                                                       : std::nullopt;
}

void IterationRows::onTensor(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::TensorStatistics>(at);
  Dictionary& dictionary = image_.dictionary;
  model::Tensor row;
  if (!readTensor({at, record.header.size}, row)) {
    ++image_.counts.damaged;
    return;
  }
  row.processId = image_.process.row.id;
  row.nameId = image_.name(record.header.subject);
  row.collection = dictionary.text(record.collection);
  row.dtype = dictionary.text(record.dtype);
  row.shape = dictionary.text(record.shape);
  if (const std::string_view file = dictionary.text(record.file); !file.empty())
    row.file = file;
  image_.advance(thread, record.ticks);
  row.tsNs = image_.time.toNs(record.ticks);
  row.iteration = numberAt(thread, row.tsNs);
  image_.sink.add(row);
  thread.remember(model::Owner::Slice, 0);
}

void IterationRows::packNumbers(StatePacker& out) const {
  out.put(next_);
  out.put(reportsProbes_);
}

void IterationRows::packLists(StatePacker& out) const {
  out.putAll(open_);
  out.putAll(past_);
}

void IterationRows::unpackNumbers(StateUnpacker& in) {
  next_ = in.get<std::int64_t>();
  reportsProbes_ = in.get<bool>();
}

void IterationRows::unpackLists(StateUnpacker& in) {
  open_ = in.getAll<ThreadIteration>();
  past_ = in.getAll<ThreadIteration>();
}

}  // namespace sonde::ingest
