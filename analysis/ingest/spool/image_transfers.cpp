// ImageBuilder's records of reading, writing, sending, receiving, waiting and allocating.
#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/wire_words.h"
#include "analysis/ingest/spool/image_builder.h"

#include <algorithm>

namespace sonde::ingest {
void ImageBuilder::onFileAccess(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::FileAccess>(at);
  const std::int64_t endNs = endOf(thread, record.endTicks);
  const std::int64_t startNs = std::min(time_.toNs(record.beginTicks), endNs);
  const auto known = [](std::uint64_t value) {
    return value == wire::FileAccess::kUnknown ? model::OptionalInt() : signedOf(value);
  };
  model::FileAccess row;
  row.sliceId = addCall(
      thread,
      newSlice(thread, model::SliceKind::Io, wire::Probe::Io, record.header.subject, startNs),
      endNs,
      record.endTicks == 0);
  if (record.path != 0)
    row.pathId = dictionary_.name(sink_, record.path);
  row.offset = known(record.offset);
  row.bytes = known(record.bytes);
  row.diskBytes = known(record.diskBytes);
  sink_.add(row);
  remember(thread, model::Owner::Slice, row.sliceId.value);
}

// Finds the waker's row by its kernel id: its definition, if any, may come later.
void ImageBuilder::onHandoff(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Handoff>(at);
  const auto kind = syncObject(static_cast<std::uint8_t>(record.kind));
  if (!kind) {
    ++counts_.damaged;
    return;
  }
  model::Handoff row;
  row.wakeNs = endOf(thread, record.endTicks);
  row.blockNs = std::min(time_.toNs(record.beginTicks), row.wakeNs);
  row.sliceId = addCall(
      thread,
      newSlice(
          thread, model::SliceKind::Wait, wire::Probe::Sync, record.header.subject, row.blockNs),
      row.wakeNs,
      record.endTicks == 0);
  remember(thread, model::Owner::Slice, row.sliceId.value);
  if (record.endTicks == 0)
    return;  // no thread has woken it
  if ((record.header.detail & wire::Handoff::kTimedOut) != 0)
    return addArg(
        model::Owner::Slice, row.sliceId.value, sink_.intern("timed out"), std::int64_t{1});
  if ((record.header.detail & wire::Handoff::kInterrupted) != 0)
    return;
  row.object = signedOf(record.object);
  row.kind = *kind;
  row.wakeeThreadId = thread.row.id;
  if (record.wakerTicks != 0)
    row.wakerNs = std::min(time_.toNs(record.wakerTicks), row.wakeNs);
  if (record.waker != 0)
    row.wakerThreadId = threadOfTid(record.waker, row.wakerNs.value_or(row.blockNs));
  row.certain = record.waker != 0 && (record.header.detail & wire::Handoff::kCertain) != 0;
  sink_.add(row);
}

// Does not change the thread's last record: memory is allocated in the middle of other work.
void ImageBuilder::onAllocation(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Allocation>(at);
  const auto who = allocator(record.header.detail);
  if (!who || *who == model::Allocator::Cuda) {
    ++counts_.damaged;
    return;
  }
  model::Allocation row;
  row.processId = process_.row.id;
  row.threadId = thread.row.id;
  row.allocator = *who;
  row.address = signedOf(record.address);
  row.bytes = signedOf(record.bytes);
  row.allocNs = advance(thread, record.ticks);
  row.scopeId = thread.track.innermost().scope;
  hostMemory_.allocated(record, row);
}

void ImageBuilder::onRelease(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Release>(at);
  hostMemory_.released(record, advance(thread, record.ticks));
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

void ImageBuilder::onMessage(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Message>(at);
  const auto channel = channels_.find(record.header.subject);
  const bool isOpen = record.endTicks == 0;  // then its source may still be unknown
  if (channel == channels_.end() && !isOpen) {
    ++counts_.damaged;
    return;
  }
  const auto has = [&](std::uint8_t flag) { return (record.header.detail & flag) != 0; };
  const std::int64_t endNs = endOf(thread, record.endTicks);
  model::Transfer row;
  if (channel != channels_.end())
    row.channelId = channel->second;
  row.threadId = thread.row.id;
  row.direction = has(wire::Message::kReceive) ? model::Direction::Receive : model::Direction::Send;
  row.exact = !has(wire::Message::kInexact);
  row.anySource = has(wire::Message::kAnySource);
  row.offset = signedOf(record.ordinal);
  row.bytes = signedOf(record.bytes);
  row.tag = record.tag;
  row.startNs = std::min(time_.toNs(record.beginTicks), endNs);
  if (record.name != 0)
    row.sliceId =
        addCall(thread,
                newSlice(thread, model::SliceKind::Api, wire::Probe::Mpi, record.name, row.startNs),
                endNs,
                isOpen);
  if (isOpen)
    return remember(thread, model::Owner::Slice, row.sliceId.value);  // nothing was transferred
  row.durNs = endNs - row.startNs;
  remember(thread, model::Owner::Transfer, sink_.add(row).value);
}

}  // namespace sonde::ingest
