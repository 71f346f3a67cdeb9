#include "analysis/ingest/nsight/nsight_mpi.h"

#include "analysis/ingest/import/event_kinds.h"

#include <algorithm>
#include <array>

namespace sonde::ingest {
namespace {

using Column = NsightTable::Column;
using Type = NsightTable::Type;
using model::CollectiveOp;

enum MpiColumn : std::size_t { Start, End, Thread, Name, Sent, Received, Root, Peer };
constexpr std::array<Column, 8> kColumns = {{{"start", Type::Integer, true},
                                             {"end"},
                                             {"globalTid", Type::Integer, true},
                                             {"textId"},
                                             {"size"},
                                             {"recvSize"},
                                             {"rootRank"},
                                             {"remoteRank"}}};

std::optional<CollectiveOp> opOf(std::string_view name) noexcept {
  if (name.find("cast") != std::string_view::npos)  // MPI_Bcast, MPI_Ibcast
    return CollectiveOp::Broadcast;
  if (name.find("endrecv") != std::string_view::npos)  // two operations in one call
    return {};
  return collectiveOf(name);
}

struct Call {
  std::string_view name;
  model::SliceId slice{};
  NsightContext::Span span;
};

Result<void> addCollective(NsightContext& context, const NsightTable& row, const Call& call) {
  const auto op = opOf(call.name);
  if (!op)
    return {};
  model::Collective collective;
  collective.processId = context.thread(*row.integer(Thread)).process;
  collective.op = *op;
  collective.sliceId = call.slice;
  collective.startNs = call.span.startNs;
  collective.durNs = call.span.durNs;
  const model::OptionalInt size = row.integer(Sent);
  if (*op == CollectiveOp::Receive)
    collective.recvBytes = size;
  else
    collective.sendBytes = size;
  if (!model::isPointToPoint(*op))
    collective.recvBytes = row.integer(Received);
  if (collective.sendBytes || collective.recvBytes)
    collective.bytes = std::max(collective.sendBytes.value_or(0), collective.recvBytes.value_or(0));
  collective.root = row.integer(Root);
  collective.peer = row.integer(Peer);
  SONDE_TRY(context.writer.add(collective));
  return {};
}

Result<void> addCall(NsightContext& context, const NsightTable& row, model::SliceKind kind) {
  const auto span = context.spanOf(row.integer(Start), row.integer(End));
  if (!span)
    return {};
  SONDE_TRY_ASSIGN(const NsightNames::Name* const name, context.names.find(row.integer(Name)));
  model::Slice slice;
  slice.kind = kind;
  slice.category = "mpi";
  slice.nameId = name->id;
  SONDE_TRY_ASSIGN(const model::SliceId id, context.addSlice(slice, *row.integer(Thread), *span));
  return kind == model::SliceKind::Collective ? addCollective(context, row, {name->text, id, *span})
                                              : Result<void>();
}

}  // namespace

Result<void> importNsightMpi(NsightContext& context) {
  using model::SliceKind;
  constexpr std::pair<std::string_view, SliceKind> kTables[] = {
      {"MPI_COLLECTIVES_EVENTS", SliceKind::Collective},
      {"MPI_P2P_EVENTS", SliceKind::Collective},
      {"MPI_START_WAIT_EVENTS", SliceKind::Api},
      {"MPI_OTHER_EVENTS", SliceKind::Api}};
  for (const auto& [table, kind] : kTables) {
    const auto call = [&context, kind = kind](const NsightTable& row) {
      return addCall(context, row, kind);
    };
    SONDE_TRY(context.read(table, kColumns, "mpi", call));
  }
  return {};
}

}  // namespace sonde::ingest
