#include "analysis/engine/standstill/standstill.h"

#include "analysis/engine/metrics/ranks.h"
#include "analysis/engine/standstill/open_work.h"
#include "analysis/engine/standstill/rendezvous.h"
#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace sonde::engine::standstill {
namespace {

using store::Statement;

// Times are on the job's common clock.
constexpr std::string_view kScopeProgress =
    "SELECT process_id, max(end_ns) FROM v_slice WHERE dur_ns IS NOT NULL AND kind IN ('phase',"
    " 'operation', 'iteration', 'micro_step', 'forward', 'backward', 'optimizer', 'data_load',"
    " 'checkpoint', 'evaluation', 'module', 'operator', 'collective') GROUP BY process_id"
    " UNION ALL SELECT process_id, max(end_ns) FROM v_collective WHERE dur_ns IS NOT NULL GROUP BY"
    " process_id"
    " UNION ALL SELECT process_id, max(end_ns) FROM v_transfer WHERE kind = 'mpi' GROUP BY "
    "process_id"
    " UNION ALL SELECT process_id, max(end_ns) FROM v_kernel GROUP BY process_id"
    " UNION ALL SELECT process_id, max(end_ns) FROM v_copy GROUP BY process_id";
constexpr std::string_view kAnyProgress =
    "SELECT process_id, max(end_ns) FROM v_slice WHERE dur_ns IS NOT NULL GROUP BY process_id"
    " UNION ALL SELECT process_id, max(end_ns) FROM v_transfer GROUP BY process_id";

constexpr std::string_view kProcesses =
    "SELECT v.id, v.start_ns, v.end_ns, v.state, v.exit_signal, v.exit_status, v.parent_id, v.pid,"
    " v.rank, v.watermark_ns, (m.value ->> 1) + v.start_ns - p.start_ns FROM v_process v"
    " JOIN process p ON p.id = v.id LEFT JOIN meta m ON m.key = 'kept_ns:' || v.id";
constexpr std::string_view kLastSeen =
    "SELECT process_id, max(seen_ns) FROM v_open_call GROUP BY process_id";
constexpr std::string_view kLongest =
    "SELECT coalesce((SELECT max(dur_ns) FROM iteration), (SELECT max(dur_ns) FROM collective), 0)";

struct ProcessFacts {
  std::int64_t startNs = 0;
  std::optional<std::int64_t> endNs;
  std::string state;
  std::optional<std::int64_t> exitSignal;
  std::optional<std::int64_t> exitStatus;
  std::int64_t parentId = 0;
  std::int64_t pid = 0;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> watermarkNs;  // up to which its records are complete
  std::optional<std::int64_t> keptNs;       // of a trimmed trace: end of the kept part

  bool endedWell() const {
    return state == "replaced" || (state == "exited" && exitStatus.value_or(0) == 0);
  }
};
using Processes = std::map<std::int64_t, ProcessFacts>;

Result<Processes> readProcesses(const store::Database& trace) {
  Processes processes;
  SONDE_TRY(store::forEachRow(trace, kProcesses, [&](const Statement& row) -> Result<void> {
    processes[row.integer(0)] = {row.integer(1),
                                 row.optionalInteger(2),
                                 std::string(row.text(3)),
                                 row.optionalInteger(4),
                                 row.optionalInteger(5),
                                 row.integer(6),
                                 row.integer(7),
                                 row.optionalInteger(8),
                                 row.optionalInteger(9),
                                 row.optionalInteger(10)};
    return {};
  }));
  return processes;
}

// By process: the latest instant that `sql` returns.
Result<std::map<std::int64_t, std::int64_t>> latest(const store::Database& trace,
                                                    std::string_view sql) {
  std::map<std::int64_t, std::int64_t> times;
  SONDE_TRY(store::forEachRow(trace, sql, [&](const Statement& row) -> Result<void> {
    std::int64_t& ns = times[row.integer(0)];
    ns = std::max(ns, row.integer(1));
    return {};
  }));
  return times;
}

bool isScope(const OpenCall& call) {
  return call.kind != "collective" && call.kind != "send" && call.kind != "receive" &&
         call.kind != "wait" && call.kind != "io" && call.kind != "api" && call.kind != "python";
}

// Sets when each rank last made progress. In a job without annotations the rank is the process that
// started first, perhaps a shell: then the progress of any process counts.
Result<void> addProgress(const store::Database& trace, std::vector<RankState>& ranks) {
  SONDE_TRY_ASSIGN(const auto scopes, latest(trace, kScopeProgress));
  std::map<std::int64_t, std::int64_t> any;
  if (std::any_of(ranks.begin(), ranks.end(), [&](const RankState& rank) {
        return scopes.count(rank.processId) == 0;
      })) {
    SONDE_TRY_ASSIGN(any, latest(trace, kAnyProgress));
  }
  for (RankState& rank : ranks) {
    const bool hasScopes = scopes.count(rank.processId) > 0;
    for (const auto& [process, ns] : hasScopes ? scopes : any)
      if (process == rank.processId || (!hasScopes && ranks.size() == 1))
        rank.progressNs = std::max(rank.progressNs, ns);
    for (const OpenCall& call : rank.open)
      if (isScope(call))
        rank.progressNs = std::max(rank.progressNs, call.sinceNs);
  }
  return {};
}

// A thread that waits in a collective comes first, then others that wait.
void orderByThread(std::vector<OpenCall>& open) {
  std::map<std::int64_t, int> importance;  // by thread
  for (const OpenCall& call : open) {
    const int own = call.kind == "collective" ? 0 : isScope(call) ? 2 : 1;
    const auto [at, isNew] = importance.emplace(call.threadId, own);
    if (!isNew)
      at->second = std::min(at->second, own);
  }
  std::stable_sort(open.begin(), open.end(), [&](const OpenCall& a, const OpenCall& b) {
    return std::pair(importance[a.threadId], a.threadId) <
           std::pair(importance[b.threadId], b.threadId);
  });
}

std::string nameOf(const ProcessFacts& process) {
  return process.rank ? fmt::format("rank {}", *process.rank)
                      : fmt::format("process {}", process.pid);
}

std::vector<LostHelper> lostHelpers(const Processes& processes,
                                    const std::vector<RankState>& ranks,
                                    std::int64_t sinceNs,
                                    std::int64_t untilNs) {
  constexpr std::int64_t kBeforeNs = 5'000'000'000;
  constexpr std::int64_t kAtTheEndNs = 500'000'000;  // together with the job, not before it
  std::vector<LostHelper> lost;
  for (const auto& [id, process] : processes) {
    const auto owner = std::find_if(ranks.begin(), ranks.end(), [&](const RankState& rank) {
      return rank.processId == process.parentId;
    });
    const bool isRank = std::any_of(ranks.begin(), ranks.end(), [id = id](const RankState& rank) {
      return rank.processId == id;
    });
    if (owner == ranks.end() || isRank || process.endedWell() || process.state == "running" ||
        !process.endNs || *process.endNs < sinceNs - kBeforeNs ||
        *process.endNs > untilNs - kAtTheEndNs)
      continue;
    lost.push_back({fmt::format("process {}", process.pid),
                    owner->name,
                    process.exitStatus,
                    process.exitSignal,
                    *process.endNs});
  }
  return lost;
}

// The time up to which the trace has all of the process; may be before or after the recording's
// end.
std::optional<std::int64_t> knownUntil(const ProcessFacts& process) {
  std::optional<std::int64_t> untilNs;
  for (const auto& ns : {process.endNs, process.watermarkNs, process.keptNs}) {
    if (ns)
      untilNs = std::min(untilNs.value_or(INT64_MAX), *ns);
  }
  return untilNs;
}

// The time up to which all ranks are known, except those that are no longer recorded. `seen`: when
// open calls were last seen, by process.
std::int64_t endOf(const Processes& processes,
                   const std::vector<RankState>& ranks,
                   const std::map<std::int64_t, std::int64_t>& seen) {
  std::vector<std::int64_t> known;
  for (const RankState& rank : ranks) {
    const auto open = seen.find(rank.processId);
    const std::int64_t seenNs = open == seen.end() ? 0 : open->second;
    known.push_back(knownUntil(processes.at(rank.processId)).value_or(seenNs));
  }
  std::int64_t lastNs = 0;
  for (const std::int64_t ns : known)
    lastNs = std::max(lastNs, ns);
  std::int64_t endNs = lastNs;
  for (std::size_t at = 0; at < known.size(); ++at)
    if (processes.at(ranks[at].processId).state == "running" && known[at] >= lastNs - kMostBehindNs)
      endNs = std::min(endNs, known[at]);
  return endNs;
}

Result<std::vector<RankState>> readRankStates(const store::Database& trace,
                                              const Processes& processes,
                                              const std::vector<OpenCall>& open,
                                              const LastCollectives& last) {
  SONDE_TRY_ASSIGN(const std::vector<metrics::RankProcess> known, metrics::readRanks(trace));
  std::vector<RankState> ranks;
  for (const metrics::RankProcess& process : known) {
    RankState rank;
    rank.processId = process.processId;
    rank.rank = process.rank;
    rank.name = process.name;
    if (const auto facts = processes.find(process.processId); facts != processes.end()) {
      rank.state = facts->second.state;
      rank.exitSignal = facts->second.exitSignal;
      rank.progressNs = facts->second.startNs;
    }
    if (const auto found = last.find({process.processId, ""}); found != last.end())
      rank.last = found->second;
    std::copy_if(
        open.begin(), open.end(), std::back_inserter(rank.open), [&](const OpenCall& call) {
          return call.processId == process.processId;
        });
    orderByThread(rank.open);
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

}  // namespace

Result<std::optional<Standstill>> readStandstill(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const bool may, mayStandStill(trace));
  if (!may)
    return std::optional<Standstill>();
  SONDE_TRY_ASSIGN(const Processes processes, readProcesses(trace));
  SONDE_TRY_ASSIGN(const std::vector<OpenCall> open, readOpenCalls(trace));
  SONDE_TRY_ASSIGN(const LastCollectives last, readLastCollectives(trace));
  Standstill found;
  SONDE_TRY_ASSIGN(found.ranks, readRankStates(trace, processes, open, last));
  SONDE_TRY(addProgress(trace, found.ranks));
  SONDE_TRY_ASSIGN(const auto seen, latest(trace, kLastSeen));
  found.untilNs = endOf(processes, found.ranks, seen);
  std::int64_t firstNs = INT64_MAX;
  std::map<std::int64_t, std::string> names;
  std::map<std::int64_t, std::int64_t> known;
  for (const auto& [id, process] : processes) {
    firstNs = std::min(firstNs, process.startNs);
    names[id] = nameOf(process);
    if (const auto untilNs = knownUntil(process); untilNs && process.state == "running")
      known[id] = *untilNs;
  }
  bool isOpen = false;
  bool allEndedWell = true;
  for (const RankState& rank : found.ranks) {
    names[rank.processId] = rank.name;
    found.isRunning = found.isRunning || rank.state == "running";
    found.sinceNs = std::max(found.sinceNs, rank.progressNs);
    isOpen = isOpen || !rank.open.empty();
    allEndedWell = allEndedWell && processes.at(rank.processId).endedWell();
  }
  SONDE_TRY_ASSIGN(const std::int64_t longestNs, trace.queryInteger(kLongest));
  const std::int64_t stillNs = found.untilNs - found.sinceNs;
  if (!isOpen || allEndedWell || stillNs < std::max(kLeastNs, kTimesLongest * longestNs))
    return std::optional<Standstill>();
  found.windowNs = found.untilNs - firstNs;
  SONDE_TRY_ASSIGN(found.rendezvous, readRendezvous(trace, open, last, names, known));
  found.deadlocks = findDeadlocks(open);
  found.lostHelpers = lostHelpers(processes, found.ranks, found.sinceNs, found.untilNs);
  return std::optional(std::move(found));
}

}  // namespace sonde::engine::standstill
