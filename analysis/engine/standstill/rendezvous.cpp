#include "analysis/engine/standstill/rendezvous.h"

#include "analysis/engine/standstill/group_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace sonde::engine::standstill {
namespace {

using store::Statement;

// The collective with this number that the process has begun, ended or not.
constexpr std::string_view kHasEntered =
    "SELECT c.op FROM collective c JOIN communicator m ON m.id = c.communicator_id"
    " WHERE c.process_id = ?1 AND m.job_key = ?2 AND c.seq = ?3 ORDER BY c.op = ?4 DESC LIMIT 1";

bool isRendezvous(const OpenCall& call) {
  return call.kind == "collective" && call.op != "send" && call.op != "receive" &&
         !call.group.empty();
}

// When its first member entered it.
std::int64_t sinceOf(const Rendezvous& one) {
  std::int64_t first = INT64_MAX;
  for (const Rendezvous::Member& member : one.entered)
    first = std::min(first, member.sinceNs.value_or(INT64_MAX));
  return first;
}

class Finder {
 public:
  Finder(Statement hasEntered,
         const std::vector<OpenCall>& open,
         const LastCollectives& last,
         const std::map<std::int64_t, std::string>& names,
         const std::map<std::int64_t, std::int64_t>& knownUntil)
      : hasEntered_(std::move(hasEntered)),
        open_(open),
        last_(last),
        names_(names),
        knownUntil_(knownUntil) {}

  Result<void> addAbsent(const Group& group,
                         const std::set<std::int64_t>& entered,
                         Rendezvous& one) {
    one.unknown =
        std::max<std::int64_t>(group.size - static_cast<std::int64_t>(group.members.size()), 0);
    for (const auto& [position, member] : group.members) {
      if (entered.count(member.processId) > 0)
        continue;
      SONDE_TRY_ASSIGN(const std::string op, entersInstead(member.processId, one));
      if (op == one.op)
        continue;
      Rendezvous::Member absent{
          nameOf(member, names_), member.rank, {}, {}, member.processId != 0, op, {}};
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
  // The collective with this number that the process has begun; empty: none.
  Result<std::string> entersInstead(std::int64_t processId, const Rendezvous& one) {
    if (processId == 0 || !one.seq)
      return std::string();
    for (const OpenCall& call : open_)
      if (call.processId == processId && isRendezvous(call) && call.group == one.group &&
          call.seq == one.seq)
        return call.op;
    hasEntered_.reset();
    hasEntered_.bindAll(processId, std::string_view(one.group), *one.seq, std::string_view(one.op));
    SONDE_TRY_ASSIGN(const bool has, hasEntered_.step());
    return has ? std::string(hasEntered_.text(0)) : std::string();
  }

  Statement hasEntered_;
  const std::vector<OpenCall>& open_;
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
  Finder finder(std::move(hasEntered), open, last, names, knownUntil);
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
          {},
          {}};
      if (group != groups.end())
        for (const auto& [position, known] : group->second.members)
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
  // The innermost wait of each thread, in which it is stuck.
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
