#include "analysis/ingest/trace_event/nccl_collectives.h"

#include "analysis/ingest/import/event_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>
#include <utility>

namespace sonde::ingest {
namespace {

using model::CollectiveOp;

// kineto shortens long lists ("[0, 1, ..., 7]"); such a list is ignored.
std::string_view wholeList(std::string_view text) {
  return text.find("...") == std::string_view::npos ? text : std::string_view();
}

// Parses "[0, 1, 2]".
std::vector<std::int64_t> ranksOf(std::string_view text) {
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

// Unset: the number of elements or their size is unknown, or the product does not fit.
model::OptionalInt bytesOfElements(OptionalNumber elements, model::DataType type) {
  std::int64_t bytes = 0;
  const std::int64_t each = bytesOf(type);
  if (each <= 0 || !elements || __builtin_mul_overflow(*elements, each, &bytes))
    return {};
  return bytes;
}

// The size of a collective by the definition of nccl-tests: https://github.com/NVIDIA/nccl-tests,
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
  const std::string_view ranks = wholeList(args.groupRanks);
  const std::int64_t size = args.groupSize.value_or(0);
  const std::string key = fmt::format("{}|{}|{}", args.group, size, ranks);
  const auto [found, fresh] = groupsByKey_.try_emplace(key, groups_.size());
  if (fresh)
    groups_.push_back({std::string(args.group), ranksOf(ranks), size, {}});
  return found->second;
}

// Completes the group with the file's facts beside its events, if its kernels lack them.
void NcclCollectives::complete(Group& group, model::OptionalInt worldSize) const {
  const auto known = known_.find(group.name);
  if (group.ranks.empty() && known != known_.end()) {
    const auto size = static_cast<std::int64_t>(known->second.size());
    if (group.size == 0 || group.size == size)
      group.ranks = known->second;
  }
  if (group.size == 0)
    group.size =
        group.ranks.empty() ? worldSize.value_or(0) : static_cast<std::int64_t>(group.ranks.size());
}

model::OptionalInt NcclCollectives::positionOf(std::int64_t rank, const Group& group) {
  const auto found = std::find(group.ranks.begin(), group.ranks.end(), rank);
  return found == group.ranks.end() ? model::OptionalInt() : found - group.ranks.begin();
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
  call.row.sendBytes = bytesOfElements(args.inElements, call.row.dtype);
  call.row.recvBytes = bytesOfElements(args.outElements, call.row.dtype);
  call.row.bytes = sizeOf(call.row);
  call.row.seq = args.seq;
  if (*op == CollectiveOp::Send)
    call.peerRank = args.targetRank;
  else if (*op == CollectiveOp::Receive)
    call.peerRank = args.sourceRank;
  call.row.kernelId = kernel.id;
  call.row.startNs = kernel.work.startNs;
  call.row.durNs = kernel.work.durNs;
  calls_.push_back(call);
}

Result<void> NcclCollectives::storeGroups(store::TraceWriter& writer,
                                          model::ProcessId process,
                                          model::OptionalInt rank,
                                          model::OptionalInt worldSize) {
  std::map<std::pair<std::string, std::int64_t>, model::CommunicatorId> stored;
  for (Group& group : groups_) {
    complete(group, worldSize);
    const bool whole = group.name.empty() && group.ranks.empty();
    // Groups with one name have different ranks if a job has more than one of a kind.
    const std::string key =
        whole ? "world" : fmt::format("{}[{}]", group.name, fmt::join(group.ranks, ","));
    const auto [found, fresh] = stored.try_emplace({key, group.size});
    if (!fresh) {
      group.id = found->second;
      continue;
    }
    model::Communicator row;
    row.processId = process;
    row.jobKey = key;
    row.size = group.size;
    row.backend = "nccl";
    if (rank)
      row.position = whole ? rank : positionOf(*rank, group);
    SONDE_TRY_ASSIGN(group.id, writer.add(row));
    found->second = group.id;
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

void NcclCollectives::leaveOut(const TimeWindow& window) {
  const auto isOutside = [&](const Call& call) {
    return !window.holds(call.row.startNs, call.row.startNs + call.row.durNs.value_or(0));
  };
  calls_.erase(std::remove_if(calls_.begin(), calls_.end(), isOutside), calls_.end());
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
  std::set<model::CommunicatorId> numbered;
  for (const Call& call : calls_)
    if (call.row.seq)
      numbered.insert(groups_[call.group].id);
  std::map<model::CommunicatorId, std::int64_t> ordinals;
  for (Call& call : calls_) {
    const Group& group = groups_[call.group];
    call.row.processId = process;
    call.row.communicatorId = group.id;
    if (call.peerRank)
      call.row.peer = positionOf(*call.peerRank, group);
    if (numbered.count(group.id) == 0 && !model::isPointToPoint(call.row.op))
      call.row.seq = ordinals[group.id]++;
    call.row.startNs += shiftNs;
    SONDE_TRY(writer.add(call.row));
  }
  return {};
}

}  // namespace sonde::ingest
