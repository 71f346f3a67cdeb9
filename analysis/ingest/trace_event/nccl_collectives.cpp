#include "analysis/ingest/trace_event/nccl_collectives.h"

#include "analysis/ingest/trace_event/event_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

namespace sonde::ingest {
namespace {

using model::CollectiveOp;

// Of "[0, 1, 2]". kineto shortens long lists ("[0, 1, ..., 7]"): such a list is not one.
std::vector<std::int64_t> ranksOf(std::string_view text) {
  if (text.find("...") != std::string_view::npos)
    return {};
  std::vector<std::int64_t> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::int64_t rank = 0;
    const auto [next, error] = std::from_chars(at, end, rank);
    if (error == std::errc{})
      ranks.push_back(rank);
    at = error == std::errc{} ? next : at + 1;
  }
  return ranks;
}

// What nccl-tests calls the size of a collective: https://github.com/NVIDIA/nccl-tests,
// doc/PERFORMANCE.md.
model::OptionalInt sizeOf(const model::Collective& row) {
  switch (row.op) {
    case CollectiveOp::Allgather:
    case CollectiveOp::Gather:
    case CollectiveOp::Receive:
      return row.recvBytes;
    default:
      return row.sendBytes ? row.sendBytes : row.recvBytes;
  }
}

}  // namespace

std::size_t NcclCollectives::groupOf(const EventArgs& args) {
  const std::string key = fmt::format("{}|{}", args.group, args.groupRanks);
  const auto [found, fresh] = groupsByKey_.try_emplace(key, groups_.size());
  if (fresh)
    groups_.push_back(
        {std::string(args.group), ranksOf(args.groupRanks), args.groupSize.value_or(0), {}});
  return found->second;
}

void NcclCollectives::add(const TraceEvent& event, const model::Kernel& kernel) {
  if (!model::isCollectiveKernel(event.name))
    return;
  const EventArgs& args = event.args;
  const auto op = collectiveOf(args.collective.empty() ? event.name : args.collective);
  if (!op)
    return;
  Call call;
  call.group = groupOf(args);
  call.row.op = *op;
  call.row.dtype = dataTypeOf(args.dtype);
  const std::int64_t element = bytesOf(call.row.dtype);
  if (element > 0 && args.inElements)
    call.row.sendBytes = *args.inElements * element;
  if (element > 0 && args.outElements)
    call.row.recvBytes = *args.outElements * element;
  call.row.bytes = sizeOf(call.row);
  call.row.seq = args.seq;
  call.row.kernelId = kernel.id;
  call.row.startNs = kernel.work.startNs;
  call.row.durNs = kernel.work.durNs;
  calls_.push_back(call);
}

Result<void> NcclCollectives::storeGroups(store::TraceWriter& writer,
                                          model::ProcessId process,
                                          model::OptionalInt rank,
                                          model::OptionalInt worldSize) {
  for (Group& group : groups_) {
    const bool whole = group.name.empty() && group.ranks.empty();
    if (group.size == 0)
      group.size = group.ranks.empty() ? worldSize.value_or(0)
                                       : static_cast<std::int64_t>(group.ranks.size());
    // Groups of the same name are of different ranks when a job has more than one of a kind.
    const std::string key =
        whole ? "world" : fmt::format("{}[{}]", group.name, fmt::join(group.ranks, ","));
    model::Communicator row;
    row.processId = process;
    row.jobKey = key;
    row.size = group.size;
    row.backend = "nccl";
    const auto own =
        rank ? std::find(group.ranks.begin(), group.ranks.end(), *rank) : group.ranks.end();
    if (own != group.ranks.end())
      row.position = own - group.ranks.begin();
    else if (whole)
      row.position = rank;
    SONDE_TRY_ASSIGN(group.id, writer.add(row));
    SONDE_TRY(storeMembers(writer, group, process, rank));
  }
  return {};
}

Result<void> NcclCollectives::storeMembers(store::TraceWriter& writer,
                                           const Group& group,
                                           model::ProcessId process,
                                           model::OptionalInt rank) {
  for (std::size_t position = 0; position < group.ranks.size(); ++position) {
    model::CommunicatorMember member;
    member.communicatorId = group.id;
    member.position = static_cast<std::int64_t>(position);
    member.rank = group.ranks[position];
    if (rank == group.ranks[position])
      member.processId = process;
    SONDE_TRY(writer.add(member));
  }
  return {};
}

Result<void> NcclCollectives::finish(store::TraceWriter& writer,
                                     model::ProcessId process,
                                     model::OptionalInt rank,
                                     model::OptionalInt worldSize,
                                     std::int64_t shiftNs) {
  SONDE_TRY(storeGroups(writer, process, rank, worldSize));
  std::sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) {
    return std::tie(a.row.startNs, a.row.kernelId.value) <
           std::tie(b.row.startNs, b.row.kernelId.value);
  });
  std::vector<std::int64_t> ordinals(groups_.size());
  for (Call& call : calls_) {
    call.row.processId = process;
    call.row.communicatorId = groups_[call.group].id;
    const bool pointToPoint =
        call.row.op == CollectiveOp::Send || call.row.op == CollectiveOp::Receive;
    if (!call.row.seq && !pointToPoint)
      call.row.seq = ordinals[call.group]++;
    call.row.startNs += shiftNs;
    SONDE_TRY(writer.add(call.row));
  }
  return {};
}

}  // namespace sonde::ingest
