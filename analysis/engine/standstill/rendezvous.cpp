#include "analysis/engine/standstill/rendezvous.h"

#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace sonde::engine::standstill {
namespace {

using store::Statement;

// The members of the groups that some process is in, as far as they are known; `process_id`: where
// the trace has them, by their rank if nothing of theirs tells of the group.
constexpr std::string_view kMembers =
    "SELECT m.job_key, m.size, b.position, b.rank, coalesce((SELECT o.process_id FROM communicator "
    "o"
    " WHERE o.job_key = m.job_key AND o.position = b.position LIMIT 1), (SELECT min(p.id) FROM"
    " process p WHERE p.rank = b.rank AND p.state = 'running')) FROM communicator m"
    " JOIN communicator_member b ON b.communicator_id = m.id GROUP BY m.job_key, b.position"
    " UNION ALL SELECT m.job_key, m.size, m.position, p.rank, m.process_id FROM communicator m"
    " JOIN process p ON p.id = m.process_id WHERE m.id NOT IN (SELECT communicator_id FROM"
    " communicator_member) ORDER BY 1, 3";

// Whether the process has begun the collective, ended or not.
constexpr std::string_view kHasEntered =
    "SELECT EXISTS (SELECT 1 FROM collective c JOIN communicator m ON m.id = c.communicator_id"
    " WHERE c.process_id = ?1 AND m.job_key = ?2 AND c.seq = ?3)";

struct Known {
  std::optional<std::int64_t> rank;
  std::int64_t processId = 0;  // 0: not in the trace
};
using Groups = std::map<std::string, std::vector<Known>>;

Result<Groups> readGroups(const store::Database& trace) {
  Groups groups;
  SONDE_TRY(store::forEachRow(trace, kMembers, [&](const Statement& row) -> Result<void> {
    groups[std::string(row.text(0))].push_back({row.optionalInteger(3), row.integer(4)});
    return {};
  }));
  return groups;
}

std::string nameOf(const Known& member, const std::map<std::int64_t, std::string>& names) {
  if (const auto found = names.find(member.processId); found != names.end())
    return found->second;
  return member.rank ? fmt::format("rank {}", *member.rank) : "a rank";
}

bool isRendezvous(const OpenCall& call) {
  return call.kind == "collective" && call.op != "send" && call.op != "receive" &&
         !call.group.empty();
}

// When the first has entered it.
std::int64_t sinceOf(const Rendezvous& one) {
  std::int64_t first = INT64_MAX;
  for (const Rendezvous::Member& member : one.entered)
    first = std::min(first, member.sinceNs.value_or(INT64_MAX));
  return first;
}

class Finder {
 public:
  Finder(Statement hasEntered,
         const LastCollectives& last,
         const std::map<std::int64_t, std::string>& names,
         const std::map<std::int64_t, std::int64_t>& knownUntil)
      : hasEntered_(std::move(hasEntered)), last_(last), names_(names), knownUntil_(knownUntil) {}

  Result<void> addAbsent(const std::vector<Known>& members,
                         const std::set<std::int64_t>& entered,
                         Rendezvous& one) {
    for (const Known& member : members) {
      if (entered.count(member.processId) > 0)
        continue;
      SONDE_TRY_ASSIGN(const bool isDone, hasEntered(member.processId, one));
      if (isDone)
        continue;
      Rendezvous::Member absent{
          nameOf(member, names_), member.rank, {}, {}, member.processId != 0, {}};
      if (const auto found = last_.find({member.processId, one.group}); found != last_.end())
        absent.last = found->second;
      if (const auto found = knownUntil_.find(member.processId);
          found != knownUntil_.end() && found->second < sinceOf(one))
        absent.knownUntilNs = found->second;
      one.absent.push_back(std::move(absent));
    }
    return {};
  }

 private:
  Result<bool> hasEntered(std::int64_t processId, const Rendezvous& one) {
    if (processId == 0 || !one.seq)
      return false;
    hasEntered_.reset();
    hasEntered_.bindAll(processId, std::string_view(one.group), *one.seq);
    SONDE_TRY(hasEntered_.step());
    return hasEntered_.integer(0) != 0;
  }

  Statement hasEntered_;
  const LastCollectives& last_;
  const std::map<std::int64_t, std::string>& names_;
  const std::map<std::int64_t, std::int64_t>& knownUntil_;
};

}  // namespace

Result<std::vector<Rendezvous>> readRendezvous(
    const store::Database& trace,
    const std::vector<OpenCall>& open,
    const LastCollectives& last,
    const std::map<std::int64_t, std::string>& names,
    const std::map<std::int64_t, std::int64_t>& knownUntil) {
  using Key = std::tuple<std::string, std::string, std::optional<std::int64_t>>;
  std::map<Key, std::vector<const OpenCall*>> calls;
  for (const OpenCall& call : open)
    if (isRendezvous(call))
      calls[{call.group, call.op, call.seq}].push_back(&call);
  if (calls.empty())
    return std::vector<Rendezvous>();
  SONDE_TRY_ASSIGN(const Groups groups, readGroups(trace));
  SONDE_TRY_ASSIGN(Statement hasEntered, trace.prepare(kHasEntered));
  Finder finder(std::move(hasEntered), last, names, knownUntil);
  std::vector<Rendezvous> found;
  for (const auto& [key, waiting] : calls) {
    Rendezvous one{waiting[0]->group, waiting[0]->op, waiting[0]->seq, waiting[0]->bytes, {}, {}};
    std::set<std::int64_t> entered;
    const auto group = groups.find(one.group);
    for (const OpenCall* call : waiting) {
      entered.insert(call->processId);
      const auto name = names.find(call->processId);
      Rendezvous::Member member{
          name == names.end() ? fmt::format("process row {}", call->processId) : name->second,
          {},
          call->sinceNs,
          {},
          true,
          {}};
      if (group != groups.end())
        for (const Known& known : group->second)
          if (known.processId == call->processId)
            member.rank = known.rank;
      one.entered.push_back(std::move(member));
    }
    if (group != groups.end())
      SONDE_TRY(finder.addAbsent(group->second, entered, one));
    found.push_back(std::move(one));
  }
  std::stable_sort(found.begin(), found.end(), [](const Rendezvous& a, const Rendezvous& b) {
    return std::pair(a.absent.empty(), sinceOf(a)) < std::pair(b.absent.empty(), sinceOf(b));
  });
  return found;
}

std::vector<Deadlock> findDeadlocks(const std::vector<OpenCall>& open) {
  // The innermost wait of each thread: in that it stands.
  std::map<std::pair<std::int64_t, std::int64_t>, const OpenCall*> waits;
  for (const OpenCall& call : open) {
    if (call.threadId == 0)
      continue;
    const auto key = std::pair(call.processId, call.tid);
    if (call.kind == "wait" && call.waitsForTid && *call.waitsForTid != 0)
      waits[key] = &call;
    else if (call.kind == "wait")
      waits.erase(key);
  }
  std::vector<Deadlock> found;
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (const auto& [start, first] : waits) {
    std::vector<OpenCall> path;
    std::set<std::int64_t> onPath;
    auto at = start;
    while (waits.count(at) > 0 && seen.count(at) == 0 && onPath.insert(at.second).second) {
      path.push_back(*waits.at(at));
      at.second = *path.back().waitsForTid;
    }
    for (const OpenCall& call : path)
      seen.insert({call.processId, call.tid});
    const auto begin = std::find_if(
        path.begin(), path.end(), [&](const OpenCall& call) { return call.tid == at.second; });
    if (begin != path.end())
      found.push_back({start.first, {begin, path.end()}});
  }
  return found;
}

}  // namespace sonde::engine::standstill
