// ImageBuilder's records of collectives, and of a library's work for them after their call.
#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/wire_words.h"
#include "analysis/ingest/spool/image_builder.h"

#include <algorithm>

namespace sonde::ingest {
model::Collective ImageBuilder::collectiveRow(const wire::Collective& record,
                                              model::CollectiveOp op) {
  const auto bytes = [](std::uint64_t count) {
    return count == wire::Collective::kUnknownBytes ? model::OptionalInt() : signedOf(count);
  };
  const auto rank = [](std::int32_t number) {
    return number < 0 ? model::OptionalInt() : std::int64_t{number};
  };
  model::Collective row;
  row.processId = process_.row.id;
  if (const auto found = communicators_.find(record.header.subject); found != communicators_.end())
    row.communicatorId = found->second;
  if (signedOf(record.seq) >= 0)
    row.seq = signedOf(record.seq);
  row.op = op;
  row.dtype = dataType(static_cast<std::uint8_t>(record.dtype));
  row.bytes = bytes(record.bytes);
  row.sendBytes = bytes(record.sendBytes);
  row.recvBytes = bytes(record.recvBytes);
  row.root = rank(record.root);
  row.peer = rank(record.peer);
  return row;
}

void ImageBuilder::addCollectiveArgs(model::CollectiveId id, const wire::Collective& record) {
  const auto add = [&](std::string_view key, std::uint64_t value) {
    addArg(model::Owner::Collective, id.value, sink_.intern(key), signedOf(value));
  };
  if (record.channels != 0)
    add("channels", record.channels);
  if ((record.flags & wire::Collective::kHasNumber) != 0)
    add("nccl_number", record.ownNumber);
  if ((record.flags & wire::Collective::kGraphCaptured) != 0)
    add("graph", 1);
  if ((record.flags & wire::Collective::kGroup) != 0)
    add("grouped", (record.flags & wire::Collective::kGroup) >> wire::Collective::kGroupShift);
}

void ImageBuilder::onCollective(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Collective>(at);
  const auto op = collectiveOp(record.header.detail);
  if (!op) {
    ++counts_.damaged;
    return;
  }
  const bool enqueued = (record.flags & wire::Collective::kEnqueued) != 0;
  const bool isOpen = !enqueued && record.endTicks == 0;
  const bool returned = !enqueued || record.endTicks != 0;
  const std::int64_t endNs =
      returned ? endOf(thread, record.endTicks) : advance(thread, record.beginTicks);
  model::Collective row = collectiveRow(record, *op);
  row.startNs = std::min(time_.toNs(record.beginTicks), endNs);
  if (!enqueued && !isOpen)
    row.durNs = endNs - row.startNs;
  if (returned) {
    model::Slice slice =
        newSlice(thread, model::SliceKind::Collective, record.probe, record.name, row.startNs);
    if (record.name == 0)
      slice.nameId = sink_.intern(model::word(*op));
    row.sliceId = addCall(thread, slice, endNs, isOpen);
  }
  const model::CollectiveId id =
      collectives_.add(enqueued ? record.number : 0, row, record.algorithm, record.protocol);
  remember(thread, model::Owner::Collective, id.value);
  addCollectiveArgs(id, record);
}

// Parts are reported when they are complete, not in the order of their ends.
std::int64_t ImageBuilder::happened(std::uint64_t ticks) {
  const std::int64_t ns = time_.toNs(ticks);
  lastNs_ = std::max(lastNs_, ns);
  return ns;
}

void ImageBuilder::onCollectivePart(Thread& thread, const std::byte* at) {
  const auto header = loadRecord<wire::RecordHeader>(at);
  if ((header.detail & wire::ProxyStep::kDetail) != 0)
    return onProxyStep(thread, at);
  if (header.detail == wire::CollectivePlan::kDetail)
    return onCollectivePlan(at);
  if (header.detail == wire::CommunicatorAbort::kDetail)
    return onCommunicatorAbort(at);
  if (header.detail != wire::CollectiveEnd::kDetail)
    return;  // written by a later version
  const auto record = loadRecord<wire::CollectiveEnd>(at);
  if ((header.subject & wire::CollectiveEnd::kDropped) != 0)
    collectives_.drop(record.collective);
  if ((header.subject & wire::CollectiveEnd::kUnfinished) != 0) {
    addCollectiveArg(record.collective, "unfinished", 1);
    return collectives_.loseEnd(record.collective);
  }
  collectives_.end(record.collective, happened(record.ticks));
}

void ImageBuilder::addCollectiveArg(std::uint64_t number,
                                    std::string_view key,
                                    std::uint64_t value) {
  if (const model::CollectiveId id = collectives_.idOf(number); id.value != 0)
    addArg(model::Owner::Collective, id.value, sink_.intern(key), signedOf(value));
}

void ImageBuilder::onCollectivePlan(const std::byte* at) {
  if (loadRecord<wire::RecordHeader>(at).size < sizeof(wire::CollectivePlan)) {
    ++counts_.damaged;
    return;
  }
  const auto record = loadRecord<wire::CollectivePlan>(at);
  collectives_.plan(record.collective, record.algorithm, record.protocol);
  if (record.channels != 0)
    addCollectiveArg(record.collective, "channels", record.channels);
  if (record.ticks != 0)
    addCollectiveArg(
        record.collective, "launched_ns", static_cast<std::uint64_t>(happened(record.ticks)));
  if ((record.header.subject & wire::CollectivePlan::kHasNumber) != 0)
    addCollectiveArg(record.collective, "nccl_number", record.ownNumber);
}

void ImageBuilder::onCommunicatorAbort(const std::byte* at) {
  const auto record = loadRecord<wire::CommunicatorAbort>(at);
  const auto found = communicators_.find(record.header.subject);
  if (found == communicators_.end()) {
    ++counts_.damaged;
    return;
  }
  addArg(model::Owner::Communicator,
         found->second.value,
         sink_.intern("aborted_ns"),
         happened(record.ticks));
}

void ImageBuilder::onProxyStep(Thread& thread, const std::byte* at) {
  const auto channel = channels_.find(loadRecord<wire::RecordHeader>(at).subject);
  if (loadRecord<wire::RecordHeader>(at).size < sizeof(wire::ProxyStep) ||
      channel == channels_.end()) {
    ++counts_.damaged;
    return;
  }
  const auto record = loadRecord<wire::ProxyStep>(at);
  model::Transfer row;
  row.channelId = channel->second;
  row.threadId = thread.row.id;
  row.direction = (record.header.detail & wire::ProxyStep::kReceive) != 0
                      ? model::Direction::Receive
                      : model::Direction::Send;
  row.exact = (record.header.detail & wire::ProxyStep::kInexact) == 0;
  row.offset = signedOf(record.offset);
  row.bytes = signedOf(record.bytes);
  row.startNs = time_.toNs(record.beginTicks);
  if (record.endTicks != 0)
    row.durNs = std::max<std::int64_t>(happened(record.endTicks) - row.startNs, 0);
  row.collectiveId = collectives_.join(record.collective);
  row.step = record.step;
  remember(thread, model::Owner::Transfer, sink_.add(row).value);
}

}  // namespace sonde::ingest
