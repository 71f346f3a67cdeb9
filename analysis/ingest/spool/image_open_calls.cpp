// Makes the rows of table open_call from a process's unfinished calls.
#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/wire_words.h"
#include "analysis/ingest/spool/image_builder.h"

#include <algorithm>
#include <utility>

namespace sonde::ingest {
namespace {

model::OptionalInt sizeOf(std::uint64_t bytes) {
  return bytes == wire::Collective::kUnknownBytes ? model::OptionalInt()
                                                  : static_cast<std::int64_t>(bytes);
}

model::OptionalInt rankOf(std::int32_t rank) {
  return rank < 0 ? model::OptionalInt() : std::int64_t{rank};
}

// `send` or `receive`, by the flag that transfers and messages share.
std::string_view directionOf(std::uint8_t detail) {
  static_assert(wire::Transfer::kReceive == wire::Message::kReceive);
  return model::word((detail & wire::Transfer::kReceive) != 0 ? model::Direction::Receive
                                                              : model::Direction::Send);
}

}  // namespace

void ImageBuilder::describeOpenCollective(const std::byte* at, model::OpenCall& row) {
  const auto record = loadRecord<wire::Collective>(at);
  row.kind = model::word(model::SliceKind::Collective);
  row.category = probeWord(record.probe);
  if (const auto op = collectiveOp(record.header.detail))
    row.op = model::word(*op);
  row.nameId = record.name != 0 ? dictionary_.name(sink_, record.name)
                                : sink_.intern(row.op.value_or("collective"));
  if (const auto found = communicators_.find(record.header.subject); found != communicators_.end())
    row.communicatorId = found->second;
  if (static_cast<std::int64_t>(record.seq) >= 0)
    row.seq = static_cast<std::int64_t>(record.seq);
  row.bytes = sizeOf(record.bytes);
  row.root = rankOf(record.root);
  row.peer = rankOf(record.peer);
}

// Unset for a record that is not a call, or has impossible values.
std::optional<model::OpenCall> ImageBuilder::describeOpen(const Thread& thread,
                                                          const std::byte* at) {
  const auto header = loadRecord<wire::RecordHeader>(at);
  model::OpenCall row;
  row.processId = process_.row.id;
  row.threadId = thread.row.id;
  const auto channel = channels_.find(header.subject);
  switch (header.kind) {
    case wire::RecordKind::Collective:
      describeOpenCollective(at, row);
      break;
    case wire::RecordKind::Transfer:
      row.kind = directionOf(header.detail);
      row.category = probeWord(wire::Probe::Net);
      row.nameId = sink_.intern(row.kind);
      if (channel != channels_.end())
        row.channelId = channel->second;
      break;
    case wire::RecordKind::Message: {
      const auto record = loadRecord<wire::Message>(at);
      row.kind = directionOf(header.detail);
      row.category = probeWord(wire::Probe::Mpi);
      row.nameId = record.name != 0 ? dictionary_.name(sink_, record.name) : sink_.intern(row.kind);
      if (channel != channels_.end())
        row.channelId = channel->second;
      row.bytes = sizeOf(record.bytes);
      row.tag = record.tag;
      break;
    }
    case wire::RecordKind::Handoff: {
      const auto record = loadRecord<wire::Handoff>(at);
      row.kind = model::word(model::SliceKind::Wait);
      row.category = probeWord(wire::Probe::Sync);
      row.nameId = dictionary_.name(sink_, header.subject);
      row.object = static_cast<std::int64_t>(record.object);
      if (record.waker != 0)
        row.waitsForThreadId = threadOfTid(record.waker, time_.toNs(record.beginTicks));
      break;
    }
    case wire::RecordKind::FileAccess:
      row.kind = model::word(model::SliceKind::Io);
      row.category = probeWord(wire::Probe::Io);
      row.nameId = dictionary_.name(sink_, header.subject);
      break;
    case wire::RecordKind::Call: {
      const auto kind = sliceKind(header.detail);
      if (!kind)
        return std::nullopt;
      row.kind = model::word(*kind);
      row.category = categoryOf(loadRecord<wire::Call>(at));
      row.nameId = dictionary_.name(sink_, header.subject);
      break;
    }
    default:
      return std::nullopt;
  }
  // In all of these kinds the begin follows the header.
  const std::int64_t beganNs = time_.toNs(loadRecord<wire::Call>(at).beginTicks);
  row.startNs = std::min(beganNs, seenNs_);
  row.seenNs = seenNs_;
  return row;
}

// The last row that the record's handler adds on the thread is the open call's.
void ImageBuilder::storeOpen(Thread& thread, const std::byte* at, model::OpenCall& row) {
  const auto header = loadRecord<wire::RecordHeader>(at);
  if (header.kind == wire::RecordKind::Transfer)
    return;                                  // nothing was transferred
  remember(thread, model::Owner::Slice, 0);  // so that none is found if the handler adds nothing
  (this->*kHandlers[static_cast<std::size_t>(header.kind)])(thread, at);
  if (thread.lastId == 0)
    return;
  if (thread.lastOwner == model::Owner::Collective)
    row.collectiveId = {thread.lastId};
  else if (thread.lastOwner == model::Owner::Slice)
    row.sliceId = {thread.lastId};
}

void ImageBuilder::addOpenRows(const Thread& thread, std::vector<model::OpenCall> rows) {
  for (const TrackScope& scope : thread.track.open()) {
    model::OpenCall row;
    row.processId = process_.row.id;
    row.threadId = thread.row.id;
    row.kind = model::word(scope.slice.kind);
    row.category = scope.slice.category;
    row.nameId = scope.slice.nameId;
    row.startNs = scope.slice.startNs;
    row.seenNs = std::max(seenNs_, scope.slice.startNs);
    row.sliceId = scope.slice.id;
    rows.push_back(row);
  }
  std::stable_sort(
      rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.startNs < b.startNs; });
  for (std::size_t depth = 0; depth < rows.size(); ++depth) {
    rows[depth].depth = static_cast<std::int64_t>(depth);
    sink_.add(rows[depth]);
  }
  hasOpenRows_ = hasOpenRows_ || !rows.empty();
}

void ImageBuilder::noteOpen(const std::vector<OpenRecord>& calls,
                            std::int64_t seenNs,
                            bool isLast) {
  seenNs_ = std::max({seenNs_, seenNs, lastNs_});
  if (hasOpenRows_)
    sink_.dropOpenCalls(process_.row.id);
  hasOpenRows_ = false;
  std::map<std::uint32_t, std::vector<model::OpenCall>> rows;
  // Innermost first: a call that gets a row becomes the parent of those inside it.
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    Thread& thread = threadOf(call->thread);
    std::optional<model::OpenCall> row = describeOpen(thread, call->bytes.data());
    if (!row)
      continue;
    if (isLast)
      storeOpen(thread, call->bytes.data(), *row);
    rows[call->thread].insert(rows[call->thread].begin(), *row);
  }
  for (const auto& [index, thread] : threads_)
    rows.try_emplace(index);
  for (auto& [index, open] : rows)
    addOpenRows(threadOf(index), std::move(open));
}

}  // namespace sonde::ingest
