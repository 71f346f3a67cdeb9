#include "analysis/ingest/chakra/chakra_collectives.h"

#include "analysis/ingest/import/event_kinds.h"

#include <algorithm>
#include <tuple>

namespace sonde::ingest {

using model::CollectiveOp;

std::optional<CollectiveOp> ChakraCollectives::opOf(const ChakraNode& node) {
  switch (node.type) {
    case ChakraType::Send:
      return CollectiveOp::Send;
    case ChakraType::Receive:
      return CollectiveOp::Receive;
    case ChakraType::Collective:
      return node.op ? node.op : collectiveOf(node.name);
    default:
      return {};
  }
}

void ChakraCollectives::add(const ChakraNode& node, model::Collective row) {
  row.op = *opOf(node);
  row.startNs = node.startNs;
  row.durNs = node.durNs;
  row.bytes = node.bytes;
  if (row.op == CollectiveOp::Receive)
    row.recvBytes = node.bytes;
  else
    row.sendBytes = node.bytes;
  if (model::isPointToPoint(row.op))
    row.peer = row.op == CollectiveOp::Send ? node.destination : node.source;
  calls_.push_back({&groups_[node.group], row});
}

Result<void> ChakraCollectives::finish(store::TraceWriter& writer,
                                       model::ProcessId process,
                                       model::OptionalInt rank) {
  for (auto& [name, group] : groups_) {
    model::Communicator row;
    row.processId = process;
    row.jobKey = name.empty() ? std::string_view("world") : name;
    if (name.empty())
      row.position = rank;
    SONDE_TRY_ASSIGN(group.id, writer.add(row));
  }
  std::sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) {
    return std::tie(a.row.startNs, a.row.sliceId.value, a.row.kernelId.value) <
           std::tie(b.row.startNs, b.row.sliceId.value, b.row.kernelId.value);
  });
  for (Call& call : calls_) {
    call.row.processId = process;
    call.row.communicatorId = call.group->id;
    if (!model::isPointToPoint(call.row.op))
      call.row.seq = call.group->calls++;
    SONDE_TRY(writer.add(call.row));
  }
  return {};
}

}  // namespace sonde::ingest
