#include "analysis/engine/standstill/dumps.h"

#include "analysis/engine/standstill/open_work.h"
#include "analysis/engine/standstill/rendezvous.h"
#include "analysis/model/words.h"
#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace sonde::engine::standstill {
namespace {

using store::Statement;

constexpr std::string_view kHoldsDumps =
    "SELECT EXISTS (SELECT 1 FROM string k JOIN arg a ON a.key_id = k.id WHERE k.text ="
    " 'sonde.flight_recorder' AND a.owner = 'process')";

constexpr std::string_view kDumped =
    "SELECT p.id, p.rank, p.pid, p.state, v.start_ns, v.end_ns FROM process p JOIN v_process v ON"
    " v.id = p.id WHERE EXISTS (SELECT 1 FROM arg a JOIN string k ON k.id = a.key_id WHERE a.owner "
    "="
    " 'process' AND a.owner_id = p.id AND k.text = 'sonde.flight_recorder') ORDER BY p.rank IS "
    "NULL,"
    " p.rank, p.id";

// Groups with sends and receives are left out: their numbers count other things, too.
constexpr std::string_view kCompleted =
    "WITH fact AS (SELECT m.job_key, m.process_id, k.text AS key, a.value FROM communicator m JOIN"
    " arg a ON a.owner = 'communicator' AND a.owner_id = m.id JOIN string k ON k.id = a.key_id)"
    " SELECT job_key, process_id, value FROM fact WHERE key = 'last_completed' AND job_key NOT IN"
    " (SELECT job_key FROM fact WHERE key = 'has_messages')";

constexpr std::string_view kMemberRanks =
    "SELECT DISTINCT m.job_key, b.position, b.rank FROM communicator m JOIN communicator_member b "
    "ON"
    " b.communicator_id = m.id WHERE b.rank IS NOT NULL";

using Names = std::map<std::int64_t, std::string>;

// By group and process: its oldest unfinished collective that needs all members.
using Pending = std::map<std::string, std::map<std::int64_t, const OpenCall*>>;

Pending pendingOf(const std::vector<OpenCall>& open) {
  Pending pending;
  for (const OpenCall& call : open) {
    if (!call.seq || call.group.empty() || !model::isRendezvous(call.op))
      continue;
    const OpenCall*& oldest = pending[call.group][call.processId];
    if (oldest == nullptr || *call.seq < *oldest->seq)
      oldest = &call;
  }
  return pending;
}

// A collective that needs all members ends on none before all have done their part. So a rank that
// has not finished one that another has finished is held up by itself, not by others.
Result<std::vector<Behind>> readBehind(const store::Database& trace,
                                       const std::vector<OpenCall>& open,
                                       const Names& names) {
  const Pending pending = pendingOf(open);
  std::map<std::int64_t, Behind> found;  // by process; the group with the oldest call
  std::map<std::int64_t, std::int64_t> since;
  SONDE_TRY(store::forEachRow(trace, kCompleted, [&](const Statement& row) -> Result<void> {
    const auto group = pending.find(std::string(row.text(0)));
    if (group == pending.end())
      return {};
    for (const auto& [process, call] : group->second) {
      if (process == row.integer(1) || *call->seq > row.integer(2))
        continue;
      const auto [at, isNew] = since.try_emplace(process, call->sinceNs);
      if (!isNew && at->second < call->sinceNs)
        continue;
      at->second = call->sinceNs;
      Behind& behind = found[process];
      if (behind.group != call->group)
        behind = {names.at(process), call->group, call->op, *call->seq, {}, {}};
      behind.doneBy.insert(names.at(row.integer(1)));
    }
    return {};
  }));
  std::vector<Behind> all;
  for (auto& [process, behind] : found) {
    for (const auto& [other, call] : pending.at(behind.group))
      if (found.count(other) == 0)
        behind.waiting.insert(names.at(other));
    all.push_back(std::move(behind));
  }
  return all;
}

// Replaces the peers' positions in their groups by their ranks in the job.
Result<void> resolvePeers(const store::Database& trace, std::vector<OpenCall>& open) {
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> ranks;
  SONDE_TRY(store::forEachRow(trace, kMemberRanks, [&](const Statement& row) -> Result<void> {
    ranks[{std::string(row.text(0)), row.integer(1)}] = row.integer(2);
    return {};
  }));
  for (OpenCall& call : open) {
    if (!call.peer)
      continue;
    const auto rank = ranks.find({call.group, *call.peer});
    call.peer = rank == ranks.end() ? std::nullopt : std::optional(rank->second);
  }
  return {};
}

}  // namespace

Result<bool> holdsDumps(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t holds, trace.queryInteger(kHoldsDumps));
  return holds != 0;
}

Result<std::optional<Standstill>> readDumps(const store::Database& trace) {
  Standstill found;
  found.isDump = true;
  Names names;
  std::int64_t firstNs = INT64_MAX;
  SONDE_TRY(store::forEachRow(trace, kDumped, [&](const Statement& row) -> Result<void> {
    RankState rank;
    rank.processId = row.integer(0);
    rank.rank = row.optionalInteger(1);
    rank.name =
        rank.rank ? fmt::format("rank {}", *rank.rank) : fmt::format("process {}", rank.processId);
    rank.state = row.text(3);
    names[rank.processId] = rank.name;
    firstNs = std::min(firstNs, row.optionalInteger(4).value_or(INT64_MAX));
    found.untilNs = std::max(found.untilNs, row.optionalInteger(5).value_or(0));
    found.ranks.push_back(std::move(rank));
    return {};
  }));
  SONDE_TRY_ASSIGN(std::vector<OpenCall> open, readOpenCalls(trace));
  std::erase_if(open, [&](const OpenCall& call) { return names.count(call.processId) == 0; });
  if (open.empty())
    return std::optional<Standstill>();
  SONDE_TRY(resolvePeers(trace, open));
  SONDE_TRY_ASSIGN(const LastCollectives last, readLastCollectives(trace));
  found.sinceNs = INT64_MAX;
  for (const OpenCall& call : open)
    found.sinceNs = std::min(found.sinceNs, call.sinceNs);
  found.windowNs = found.untilNs - std::min(firstNs, found.untilNs);
  for (RankState& rank : found.ranks) {
    const auto own = last.find({rank.processId, ""});
    if (own != last.end())
      rank.last = own->second;
    std::copy_if(open.begin(), open.end(), std::back_inserter(rank.open), [&](const auto& call) {
      return call.processId == rank.processId;
    });
  }
  SONDE_TRY_ASSIGN(found.rendezvous, readRendezvous(trace, open, last, names, {}));
  SONDE_TRY_ASSIGN(found.behind, readBehind(trace, open, names));
  return std::optional(std::move(found));
}

}  // namespace sonde::engine::standstill
