#include "analysis/ingest/spool/communicator_rows.h"

#include "analysis/ingest/rows/record_walk.h"
#include "collector/wire/definitions.h"

#include <algorithm>

namespace sonde::ingest {

bool CommunicatorRows::define(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(wire::CommunicatorDefinition))
    return false;
  const auto definition = loadRecord<wire::CommunicatorDefinition>(bytes.data());
  const auto ranks = bytes.subspan(sizeof definition);
  if (definition.size < 0 || (!ranks.empty() && static_cast<std::size_t>(definition.size) >
                                                    ranks.size() / sizeof(std::int32_t)))
    return false;
  if (rows_.contains(definition.id))
    return true;
  model::Communicator row;
  row.processId = image_.process.row.id;
  row.jobKey = image_.dictionary.text(definition.key);
  row.size = definition.size;
  if (definition.position >= 0)
    row.position = definition.position;
  row.backend = probeWord(definition.probe);
  row.id = image_.sink.add(row);
  if (!ranks.empty())
    addMembers(row, ranks);
  rows_.emplace(definition.id, row.id);
  image_.sink.setState(image_.spool, "communicator", definition.id, row.id.value);
  return true;
}

void CommunicatorRows::addMembers(const model::Communicator& row,
                                  std::span<const std::byte> ranks) {
  for (std::int64_t position = 0; position < row.size; ++position) {
    const auto rank = loadRecord<std::int32_t>(ranks.data() + static_cast<std::size_t>(position) *
                                                                  sizeof(std::int32_t));
    model::CommunicatorMember member;
    member.communicatorId = row.id;
    member.position = position;
    if (rank >= 0)
      member.rank = rank;
    if (position == row.position)
      member.processId = row.processId;
    image_.sink.add(member);
  }
}

model::CommunicatorId CommunicatorRows::rowOf(std::uint32_t id) const {
  const auto found = rows_.find(id);
  return found == rows_.end() ? model::CommunicatorId{} : found->second;
}

model::Collective CommunicatorRows::collectiveRow(const wire::Collective& record,
                                                  model::CollectiveOp op) const {
  const auto bytes = [](std::uint64_t count) {
    return count == wire::Collective::kUnknownBytes ? model::OptionalInt() : signedOf(count);
  };
  const auto rank = [](std::int32_t number) {
    return number < 0 ? model::OptionalInt() : std::int64_t{number};
  };
  model::Collective row;
  row.processId = image_.process.row.id;
  row.communicatorId = rowOf(record.header.subject);
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

void CommunicatorRows::addArg(model::CollectiveId id, std::string_view key, std::uint64_t value) {
  if (id)
    image_.addArg(model::Owner::Collective, id.value, image_.sink.intern(key), signedOf(value));
}

void CommunicatorRows::addArgs(model::CollectiveId id, const wire::Collective& record) {
  if (record.channels != 0)
    addArg(id, "channels", record.channels);
  if ((record.flags & wire::Collective::kHasNumber) != 0)
    addArg(id, "nccl_number", record.ownNumber);
  if ((record.flags & wire::Collective::kGraphCaptured) != 0)
    addArg(id, "graph", 1);
  if ((record.flags & wire::Collective::kGroup) != 0)
    addArg(
        id, "grouped", (record.flags & wire::Collective::kGroup) >> wire::Collective::kGroupShift);
}

void CommunicatorRows::onCollective(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Collective>(at);
  const auto op = collectiveOp(record.header.detail);
  if (!op) {
    ++image_.counts.damaged;
    return;
  }
  const bool enqueued = (record.flags & wire::Collective::kEnqueued) != 0;
  const bool isOpen = !enqueued && record.endTicks == 0;
  const bool returned = !enqueued || record.endTicks != 0;
  const std::int64_t endNs =
      returned ? image_.endOf(thread, record.endTicks) : image_.advance(thread, record.beginTicks);
  model::Collective row = collectiveRow(record, *op);
  row.startNs = std::min(image_.time.toNs(record.beginTicks), endNs);
  if (!enqueued && !isOpen)
    row.durNs = endNs - row.startNs;
  if (returned) {
    model::Slice slice = image_.newSlice(
        thread, model::SliceKind::Collective, record.probe, record.name, row.startNs);
    if (record.name == 0)
      slice.nameId = image_.sink.intern(model::word(*op));
    row.sliceId = calls_.add(thread, slice, endNs, isOpen);
  }
  const model::CollectiveId id =
      collectives_.add(enqueued ? record.number : 0, row, record.algorithm, record.protocol);
  thread.remember(model::Owner::Collective, id.value);
  addArgs(id, record);
}

// Parts are reported when they are complete, not in the order of their ends.
void CommunicatorRows::onCollectivePart(ImageThread& thread, const std::byte* at) {
  const auto header = loadRecord<wire::RecordHeader>(at);
  if ((header.detail & wire::ProxyStep::kDetail) != 0)
    onProxyStep(thread, at);
  else if (header.detail == wire::CollectivePlan::kDetail)
    onPlan(at);
  else if (header.detail == wire::CommunicatorAbort::kDetail)
    onAbort(at);
  else if (header.detail == wire::CollectiveEnd::kDetail)
    onEnd(at);  // others were written by a later version
}

void CommunicatorRows::onEnd(const std::byte* at) {
  const auto record = loadRecord<wire::CollectiveEnd>(at);
  if ((record.header.subject & wire::CollectiveEnd::kDropped) != 0)
    collectives_.drop(record.collective);
  if ((record.header.subject & wire::CollectiveEnd::kUnfinished) != 0) {
    addArg(collectives_.idOf(record.collective), "unfinished", 1);
    return collectives_.loseEnd(record.collective);
  }
  collectives_.end(record.collective, image_.happened(record.ticks));
}

void CommunicatorRows::onPlan(const std::byte* at) {
  if (loadRecord<wire::RecordHeader>(at).size < sizeof(wire::CollectivePlan)) {
    ++image_.counts.damaged;
    return;
  }
  const auto record = loadRecord<wire::CollectivePlan>(at);
  collectives_.plan(record.collective, record.algorithm, record.protocol);
  const auto add = [&](std::string_view key, std::uint64_t value) {
    addArg(collectives_.idOf(record.collective), key, value);
  };
  if (record.channels != 0)
    add("channels", record.channels);
  if (record.ticks != 0)
    add("launched_ns", static_cast<std::uint64_t>(image_.happened(record.ticks)));
  if ((record.header.subject & wire::CollectivePlan::kHasNumber) != 0)
    add("nccl_number", record.ownNumber);
}

void CommunicatorRows::onAbort(const std::byte* at) {
  const auto record = loadRecord<wire::CommunicatorAbort>(at);
  const model::CommunicatorId communicator = rowOf(record.header.subject);
  if (!communicator) {
    ++image_.counts.damaged;
    return;
  }
  image_.addArg(model::Owner::Communicator,
                communicator.value,
                image_.sink.intern("aborted_ns"),
                image_.happened(record.ticks));
}

void CommunicatorRows::onProxyStep(ImageThread& thread, const std::byte* at) {
  const auto header = loadRecord<wire::RecordHeader>(at);
  model::Transfer row;
  row.channelId = channels_.rowOf(header.subject);
  if (header.size < sizeof(wire::ProxyStep) || !row.channelId) {
    ++image_.counts.damaged;
    return;
  }
  const auto record = loadRecord<wire::ProxyStep>(at);
  row.threadId = thread.row.id;
  row.direction = (header.detail & wire::ProxyStep::kReceive) != 0 ? model::Direction::Receive
                                                                   : model::Direction::Send;
  row.exact = (header.detail & wire::ProxyStep::kInexact) == 0;
  row.offset = signedOf(record.offset);
  row.bytes = signedOf(record.bytes);
  row.startNs = image_.time.toNs(record.beginTicks);
  if (record.endTicks != 0)
    row.durNs = std::max<std::int64_t>(image_.happened(record.endTicks) - row.startNs, 0);
  row.collectiveId = collectives_.join(record.collective);
  row.step = record.step;
  thread.remember(model::Owner::Transfer, image_.sink.add(row).value);
}

}  // namespace sonde::ingest
