#include "analysis/ingest/spool/open_call_rows.h"

#include "analysis/ingest/rows/record_walk.h"

#include <algorithm>

namespace sonde::ingest {
namespace {

model::OptionalInt sizeOf(std::uint64_t bytes) {
  return bytes == wire::Collective::kUnknownBytes ? model::OptionalInt() : signedOf(bytes);
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

void OpenCallRows::drop() {
  if (hasRows_)
    image_.sink.dropOpenCalls(image_.process.row.id);
  hasRows_ = false;
}

void OpenCallRows::describeCollective(const std::byte* at, model::OpenCall& row) {
  const auto record = loadRecord<wire::Collective>(at);
  row.kind = model::word(model::SliceKind::Collective);
  row.category = probeWord(record.probe);
  if (const auto op = collectiveOp(record.header.detail))
    row.op = model::word(*op);
  row.nameId = record.name != 0 ? image_.name(record.name)
                                : image_.sink.intern(row.op.value_or("collective"));
  row.communicatorId = communicators_.rowOf(record.header.subject);
  if (signedOf(record.seq) >= 0)
    row.seq = signedOf(record.seq);
  row.bytes = sizeOf(record.bytes);
  row.root = rankOf(record.root);
  row.peer = rankOf(record.peer);
}

std::optional<model::OpenCall> OpenCallRows::describe(const ImageThread& thread,
                                                      const std::byte* at) {
  const auto header = loadRecord<wire::RecordHeader>(at);
  model::OpenCall row;
  row.processId = image_.process.row.id;
  row.threadId = thread.row.id;
  switch (header.kind) {
    case wire::RecordKind::Collective:
      describeCollective(at, row);
      break;
    case wire::RecordKind::Transfer:
      row.kind = directionOf(header.detail);
      row.category = probeWord(wire::Probe::Net);
      row.nameId = image_.sink.intern(row.kind);
      row.channelId = channels_.rowOf(header.subject);
      break;
    case wire::RecordKind::Message: {
      const auto record = loadRecord<wire::Message>(at);
      row.kind = directionOf(header.detail);
      row.category = probeWord(wire::Probe::Mpi);
      row.nameId = record.name != 0 ? image_.name(record.name) : image_.sink.intern(row.kind);
      row.channelId = channels_.rowOf(header.subject);
      row.bytes = sizeOf(record.bytes);
      row.tag = record.tag;
      break;
    }
    case wire::RecordKind::Handoff: {
      const auto record = loadRecord<wire::Handoff>(at);
      row.kind = model::word(model::SliceKind::Wait);
      row.category = probeWord(wire::Probe::Sync);
      row.nameId = image_.name(header.subject);
      row.object = signedOf(record.object);
      if (record.waker != 0)
        row.waitsForThreadId = threads_.rowOf(record.waker, image_.time.toNs(record.beginTicks));
      break;
    }
    case wire::RecordKind::FileAccess:
      row.kind = model::word(model::SliceKind::Io);
      row.category = probeWord(wire::Probe::Io);
      row.nameId = image_.name(header.subject);
      break;
    case wire::RecordKind::Call: {
      const auto kind = sliceKind(header.detail);
      if (!kind)
        return std::nullopt;
      row.kind = model::word(*kind);
      row.category = calls_.categoryOf(loadRecord<wire::Call>(at));
      row.nameId = image_.name(header.subject);
      break;
    }
    default:
      return std::nullopt;
  }
  // In all of these kinds the begin follows the header.
  const std::int64_t beganNs = image_.time.toNs(loadRecord<wire::Call>(at).beginTicks);
  row.startNs = std::min(beganNs, image_.seenNs);
  row.seenNs = image_.seenNs;
  return row;
}

void OpenCallRows::add(const ImageThread& thread, std::vector<model::OpenCall> rows) {
  for (const TrackScope& scope : thread.track.open()) {
    model::OpenCall row;
    row.processId = image_.process.row.id;
    row.threadId = thread.row.id;
    row.kind = model::word(scope.slice.kind);
    row.category = scope.slice.category;
    row.nameId = scope.slice.nameId;
    row.startNs = scope.slice.startNs;
    row.seenNs = std::max(image_.seenNs, scope.slice.startNs);
    row.sliceId = scope.slice.id;
    rows.push_back(row);
  }
  std::stable_sort(
      rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.startNs < b.startNs; });
  for (std::size_t depth = 0; depth < rows.size(); ++depth) {
    rows[depth].depth = static_cast<std::int64_t>(depth);
    image_.sink.add(rows[depth]);
  }
  hasRows_ = hasRows_ || !rows.empty();
}

}  // namespace sonde::ingest
