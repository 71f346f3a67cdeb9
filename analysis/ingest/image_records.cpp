// The records of ImageBuilder: what each kind becomes.
#include "analysis/ingest/image_builder.h"
#include "analysis/ingest/record_walk.h"
#include "analysis/ingest/wire_words.h"
#include "collector/wire/iteration_keys.h"

#include <algorithm>
#include <bit>

namespace sonde::ingest {
namespace {

// Sonde's library never has more than kMaxOpenScopes open; past this bound a file is damaged.
constexpr std::size_t kMaxDepth = 4 * wire::kMaxOpenScopes;
constexpr std::size_t kMaxEarlyEnds = 1 << 16;

model::OptionalInt known(std::uint64_t value) {
  return value == 0 ? model::OptionalInt{} : static_cast<std::int64_t>(value);
}

std::int64_t signedOf(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

const std::array<ImageBuilder::Handler, static_cast<std::size_t>(wire::RecordKind::Count)>
    ImageBuilder::kHandlers = {nullptr,
                               &ImageBuilder::onScopeBegin,
                               &ImageBuilder::onScopeEnd,
                               &ImageBuilder::onCall,
                               &ImageBuilder::onRangeBegin,
                               &ImageBuilder::onRangeEnd,
                               &ImageBuilder::onMark,
                               &ImageBuilder::onScalar,
                               &ImageBuilder::onIterationInfo,
                               &ImageBuilder::onArg,
                               &ImageBuilder::onCollective,
                               &ImageBuilder::onTransfer,
                               &ImageBuilder::onClockSync,
                               &ImageBuilder::onThreadEnd,
                               &ImageBuilder::onFork,
                               &ImageBuilder::onExec};

void ImageBuilder::addRecords(std::uint32_t index, std::span<const std::byte> records) {
  Thread& thread = threadOf(index);
  thread.changed = true;
  const WalkCount count =
      walkRecords(records, [&](const wire::RecordHeader& header, const std::byte* at) {
        (this->*kHandlers[static_cast<std::size_t>(header.kind)])(thread, at);
      });
  counts_.records += count.records;
  counts_.skipped += count.skipped;
}

void ImageBuilder::remember(Thread& thread, model::Owner owner, std::int64_t id) {
  thread.lastOwner = owner;
  thread.lastId = id;
}

std::int64_t ImageBuilder::advance(Thread& thread, std::uint64_t ticks) {
  thread.lastNs = std::max(thread.lastNs, time_.toNs(ticks));
  lastNs_ = std::max(lastNs_, thread.lastNs);
  return thread.lastNs;
}

model::Slice ImageBuilder::newSlice(const Thread& thread,
                                    model::SliceKind kind,
                                    wire::Probe probe,
                                    std::uint32_t name,
                                    std::int64_t startNs) {
  model::Slice slice;
  slice.threadId = thread.row.id;
  slice.kind = kind;
  slice.category = probeWord(probe);
  slice.nameId = dictionary_.name(sink_, name);
  slice.startNs = startNs;
  return slice;
}

namespace {

void putAt(model::Slice& slice, const ThreadTrack::Place& place) {
  slice.parentId = place.parent;
  slice.depth = place.depth;
  slice.lane = place.lane;
  slice.scopeId = place.scope;
  slice.scopeHow = place.scope ? model::ScopeHow::Own : model::ScopeHow::None;
}

}  // namespace

void ImageBuilder::beginScope(Thread& thread,
                              std::uint32_t token,
                              model::SliceKind kind,
                              wire::Probe probe,
                              std::uint32_t name,
                              std::int64_t startNs) {
  if (thread.track.open().size() >= kMaxDepth) {
    ++counts_.damaged;
    return;
  }
  TrackScope scope;
  scope.token = token;
  scope.slice = newSlice(thread, kind, probe, name, startNs);
  putAt(scope.slice, thread.track.innermost());
  scope.slice.id = sink_.reserveSliceId();
  if (kind == model::SliceKind::Iteration)
    beginIteration(thread, scope.slice);
  remember(thread, model::Owner::Slice, scope.slice.id.value);
  thread.track.push(std::move(scope));
}

void ImageBuilder::onScopeBegin(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::ScopeBegin>(at);
  const auto kind = sliceKind(record.header.detail);
  if (!kind) {
    ++counts_.damaged;
    return;
  }
  beginScope(thread,
             record.token,
             *kind,
             record.probe,
             record.header.subject,
             advance(thread, record.ticks));
}

void ImageBuilder::storeScope(Thread& thread, const TrackScope& scope) {
  sink_.add(scope.slice);
  if (scope.stored)
    sink_.dropOpenScope(spool_, thread.row.id, scope.token);
  if (scope.slice.kind == model::SliceKind::Iteration)
    endIteration(scope.slice);
}

bool ImageBuilder::endScope(Thread& thread, std::uint32_t token, std::int64_t endNs) {
  const auto ended = thread.track.close(token, endNs);
  if (!ended)
    return false;
  storeScope(thread, *ended);
  thread.track.finished(ended->slice);
  remember(thread, model::Owner::Slice, ended->slice.id.value);
  return true;
}

void ImageBuilder::onScopeEnd(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::ScopeEnd>(at);
  if (!endScope(thread, record.header.subject, advance(thread, record.ticks)))
    ++counts_.unbalanced;
}

model::SliceId ImageBuilder::addCall(Thread& thread, model::Slice slice, std::int64_t endNs) {
  slice.durNs = endNs - slice.startNs;
  putAt(slice, thread.track.placeCall(slice.startNs, endNs));
  slice.id = sink_.add(slice);
  for (const ThreadTrack::Moved& moved : thread.track.adopt(slice))
    sink_.moveSlice(moved.id, moved.parent, moved.depth);
  thread.track.finished(slice);
  return slice.id;
}

void ImageBuilder::onCall(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Call>(at);
  const auto kind = sliceKind(record.header.detail);
  if (!kind) {
    ++counts_.damaged;
    return;
  }
  const std::int64_t endNs = advance(thread, record.endTicks);
  const std::int64_t startNs = std::min(time_.toNs(record.beginTicks), endNs);
  model::Slice slice = newSlice(thread, *kind, record.probe, record.header.subject, startNs);
  remember(thread, model::Owner::Slice, addCall(thread, slice, endNs).value);
}

void ImageBuilder::onRangeBegin(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::RangeBegin>(at);
  const auto kind = sliceKind(record.header.detail);
  if (!kind) {
    ++counts_.damaged;
    return;
  }
  if (const auto open = ranges_.find(record.rangeId); open != ranges_.end()) {
    ++counts_.unbalanced;
    endRange(open->second, std::nullopt);
    ranges_.erase(record.rangeId);
  }
  OpenRange range;
  range.token = nextRangeToken_--;
  range.thread = thread.index;
  const std::int64_t startNs = advance(thread, record.ticks);
  range.slice = newSlice(thread, *kind, record.probe, record.header.subject, startNs);
  putAt(range.slice, thread.track.placeRange(startNs));
  range.slice.id = sink_.reserveSliceId();
  remember(thread, model::Owner::Slice, range.slice.id.value);
  if (const auto early = earlyEnds_.find(record.rangeId); early != earlyEnds_.end()) {
    endRange(range, early->second);
    earlyEnds_.erase(early);
    return;
  }
  ranges_.emplace(record.rangeId, range);
}

void ImageBuilder::endRange(OpenRange range, std::optional<std::int64_t> endNs) {
  if (endNs)
    range.slice.durNs = std::max<std::int64_t>(*endNs - range.slice.startNs, 0);
  sink_.add(range.slice);
  if (range.stored)
    sink_.dropOpenScope(spool_, range.slice.threadId, range.token);
  if (!endNs)
    return;
  Thread& thread = threadOf(range.thread);
  thread.track.freeLane(range.slice.lane, std::max(*endNs, range.slice.startNs));
  thread.changed = true;
}

void ImageBuilder::onRangeEnd(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::RangeEnd>(at);
  const std::int64_t endNs = advance(thread, record.ticks);
  const auto open = ranges_.find(record.rangeId);
  if (open == ranges_.end()) {
    if (earlyEnds_.size() < kMaxEarlyEnds)
      earlyEnds_[record.rangeId] = endNs;
    else
      ++counts_.unbalanced;
    remember(thread, model::Owner::Slice, 0);
    return;
  }
  endRange(open->second, endNs);
  remember(thread, model::Owner::Slice, open->second.slice.id.value);
  ranges_.erase(open);
}

void ImageBuilder::onMark(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Mark>(at);
  addMark(thread, record.probe, dictionary_.name(sink_, record.header.subject), record.ticks);
}

void ImageBuilder::addMark(Thread& thread,
                           wire::Probe probe,
                           model::StringId name,
                           std::uint64_t ticks) {
  model::Slice slice = newSlice(thread, model::SliceKind::Mark, probe, 0, advance(thread, ticks));
  slice.nameId = name;
  slice.durNs = 0;
  putAt(slice, thread.track.innermost());
  slice.id = sink_.add(slice);
  thread.track.finished(slice);
  remember(thread, model::Owner::Slice, slice.id.value);
}

void ImageBuilder::onScalar(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Scalar>(at);
  model::Scalar row;
  row.processId = process_.row.id;
  row.nameId = dictionary_.name(sink_, record.header.subject);
  row.value = record.value;
  row.tsNs = advance(thread, record.ticks);
  row.iteration = iterationAt(thread, row.tsNs);
  sink_.add(row);
  remember(thread, model::Owner::Slice, 0);
}

void ImageBuilder::onArg(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Arg>(at);
  const model::StringId key = dictionary_.name(sink_, record.header.subject);
  model::ArgValue value;
  switch (static_cast<wire::ArgType>(record.header.detail & 0x0f)) {
    case wire::ArgType::Text:
      value = dictionary_.text(static_cast<std::uint32_t>(record.bits));
      break;
    case wire::ArgType::Int:
      value = signedOf(record.bits);
      break;
    case wire::ArgType::Double:
      value = std::bit_cast<double>(record.bits);
      break;
    default:
      ++counts_.damaged;
      return;
  }
  if ((record.header.detail & wire::Arg::kOfProcess) != 0) {
    addArg(model::Owner::Process, process_.row.id.value, key, value);
    return;
  }
  model::Owner owner = thread.lastOwner;
  std::int64_t id = thread.lastId;
  if (record.token != 0) {
    const TrackScope* scope = thread.track.find(record.token);
    owner = model::Owner::Slice;
    id = scope == nullptr ? 0 : scope->slice.id.value;
  }
  if (id == 0) {
    ++counts_.unbalanced;
    return;
  }
  addArg(owner, id, key, value);
  if (const auto* number = std::get_if<std::int64_t>(&value);
      number != nullptr && owner == model::Owner::Slice)
    tellIteration(
        thread.track.find(record.token), dictionary_.text(record.header.subject), *number);
}

void ImageBuilder::tellIteration(TrackScope* scope, std::string_view key, std::int64_t value) {
  if (scope == nullptr)
    return;
  if (key == SONDE_ITERATION_NUMBER)
    numberIteration(scope->slice.id, value);
  else if (key == SONDE_ITERATION_COMPLETE && value == 0)
    dropIteration(*scope);
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

void ImageBuilder::onCollective(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Collective>(at);
  const auto op = collectiveOp(record.header.detail);
  const auto communicator = communicators_.find(record.header.subject);
  if (!op) {
    ++counts_.damaged;
    return;
  }
  const std::int64_t endNs = advance(thread, record.endTicks);
  const std::int64_t startNs = std::min(time_.toNs(record.beginTicks), endNs);
  model::Slice slice =
      newSlice(thread, model::SliceKind::Collective, record.probe, record.name, startNs);
  if (record.name == 0)
    slice.nameId = sink_.intern(model::word(*op));
  model::Collective row;
  row.processId = process_.row.id;
  if (communicator != communicators_.end())
    row.communicatorId = communicator->second;
  row.seq = signedOf(record.seq);
  row.op = *op;
  if (record.algorithm != 0)
    row.algorithm = dictionary_.text(record.algorithm);
  row.dtype = dataType(static_cast<std::uint8_t>(record.dtype));
  row.bytes = signedOf(record.bytes);
  row.sendBytes = signedOf(record.sendBytes);
  row.recvBytes = signedOf(record.recvBytes);
  if (record.root >= 0)
    row.root = record.root;
  if (record.peer >= 0)
    row.peer = record.peer;
  row.startNs = startNs;
  row.durNs = endNs - startNs;
  row.sliceId = addCall(thread, slice, endNs);
  remember(thread, model::Owner::Collective, sink_.add(row).value);
}

void ImageBuilder::onTransfer(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Transfer>(at);
  const auto channel = channels_.find(record.header.subject);
  if (channel == channels_.end()) {
    ++counts_.damaged;
    return;
  }
  model::Transfer row;
  row.channelId = channel->second;
  row.threadId = thread.row.id;
  row.direction = (record.header.detail & wire::Transfer::kReceive) != 0 ? model::Direction::Receive
                                                                         : model::Direction::Send;
  row.exact = (record.header.detail & wire::Transfer::kInexact) == 0;
  row.offset = signedOf(record.offset);
  row.bytes = signedOf(record.bytes);
  const std::int64_t endNs = advance(thread, record.endTicks);
  row.startNs = std::min(time_.toNs(record.beginTicks), endNs);
  row.durNs = endNs - row.startNs;
  remember(thread, model::Owner::Transfer, sink_.add(row).value);
}

// What the record before was stays what it was: the library puts these in between on its own.
void ImageBuilder::onClockSync(Thread&, const std::byte* at) {
  const auto record = loadRecord<wire::ClockSync>(at);
  model::ClockSync row;
  row.hostId = process_.row.hostId;
  row.processId = process_.row.id;
  row.ticks = signedOf(record.ticks);
  row.monotonicNs = record.monotonicNs;
  row.realtimeNs = record.realtimeNs;
  sink_.add(row);
}

void ImageBuilder::onThreadEnd(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::ThreadEnd>(at);
  const std::int64_t endNs = advance(thread, record.ticks);
  while (!thread.track.open().empty())
    endScope(thread, thread.track.open().back().token, endNs);
  if (record.header.subject != 0)
    thread.name = record.header.subject;
  thread.row.endNs = endNs;
  remember(thread, model::Owner::Thread, thread.row.id.value);
}

void ImageBuilder::onFork(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Fork>(at);
  addMark(thread, wire::Probe::Process, sink_.intern("fork"), record.ticks);
  addArg(model::Owner::Slice,
         thread.lastId,
         sink_.intern("child"),
         static_cast<std::int64_t>(static_cast<std::int32_t>(record.header.subject)));
}

void ImageBuilder::onExec(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Exec>(at);
  addMark(thread, wire::Probe::Process, sink_.intern("exec"), record.ticks);
  addArg(model::Owner::Slice,
         thread.lastId,
         sink_.intern("path"),
         dictionary_.text(record.header.subject));
  if (record.header.detail == 0)
    return;
  ++notFollowed_;
  addArg(model::Owner::Slice,
         thread.lastId,
         sink_.intern("not followed"),
         dictionary_.text(record.reason));
}

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

void ImageBuilder::addArg(model::Owner owner,
                          std::int64_t id,
                          model::StringId key,
                          model::ArgValue value) {
  sink_.add(model::Arg{owner, id, key, value});
}

}  // namespace sonde::ingest
