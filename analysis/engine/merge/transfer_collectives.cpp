#include "analysis/engine/merge/transfer_collectives.h"

#include "analysis/store/statement.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace sonde::engine::merge {
namespace {

using store::Database;
using store::Statement;

struct Collective {
  std::int64_t id = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t latestEndNs = 0;  // of this one and all that began before it
};

class Collectives;

struct Transfer {
  const Collectives* collectives = nullptr;  // of its process
  std::int64_t id = 0;
  std::int64_t channelId = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t collectiveId = 0;
};

bool covers(const Collective& collective, const Transfer& transfer) {
  return collective.startNs <= transfer.startNs && transfer.endNs <= collective.endNs;
}

// The collectives of one process, by start.
class Collectives {
 public:
  void add(Collective next) {
    next.latestEndNs =
        byStart_.empty() ? next.endNs : std::max(next.endNs, byStart_.back().latestEndNs);
    byStart_.push_back(next);
  }

  // The one that the transfer's own thread runs meanwhile, of several the innermost; 0: none.
  std::int64_t ofThread(const Transfer& transfer) const {
    std::int64_t found = 0;
    forEachOpen(transfer, [&](const Collective& collective) {
      if (collective.threadId == transfer.threadId && covers(collective, transfer))
        found = collective.id;
      return found == 0;
    });
    return found;
  }

  // The only one that is open at any instant of the transfer, if it is at all of them; else 0.
  std::int64_t onlyAround(const Transfer& transfer) const {
    int open = 0;
    std::int64_t found = 0;
    forEachOpen(transfer, [&](const Collective& collective) {
      found = covers(collective, transfer) ? collective.id : 0;
      return ++open < 2;
    });
    return open == 1 ? found : 0;
  }

 private:
  // Those that are open during the transfer, the last begun first, until `visit` returns false.
  template <typename Visit>
  void forEachOpen(const Transfer& transfer, Visit visit) const {
    auto at = std::upper_bound(
        byStart_.begin(), byStart_.end(), transfer.endNs, [](std::int64_t ns, const Collective& c) {
          return ns < c.startNs;
        });
    while (at != byStart_.begin() && (at - 1)->latestEndNs >= transfer.startNs) {
      --at;
      if (at->endNs >= transfer.startNs && !visit(*at))
        return;
    }
  }

  std::vector<Collective> byStart_;
};

using ByProcess = std::map<std::int64_t, Collectives>;

Result<ByProcess> readCollectives(const Database& trace) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT c.process_id, c.id, s.thread_id, c.start_ns,"
                                 " c.start_ns + coalesce(c.dur_ns, 0)"
                                 " FROM collective c JOIN slice s ON s.id = c.slice_id"
                                 " ORDER BY c.start_ns, c.id"));
  ByProcess processes;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return processes;
    processes[rows.integer(0)].add(
        {rows.integer(1), rows.integer(2), rows.integer(3), rows.integer(4)});
  }
}

// Those of processes that have collectives.
Result<std::vector<Transfer>> readTransfers(const Database& trace, const ByProcess& processes) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT c.process_id, t.id, t.channel_id, t.thread_id, t.start_ns,"
                                 " t.start_ns + coalesce(t.dur_ns, 0)"
                                 " FROM transfer t JOIN channel c ON c.id = t.channel_id"));
  std::vector<Transfer> transfers;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return transfers;
    if (const auto process = processes.find(rows.integer(0)); process != processes.end())
      transfers.push_back({&process->second,
                           rows.integer(1),
                           rows.integer(2),
                           rows.integer(3),
                           rows.integer(4),
                           rows.integer(5)});
  }
}

}  // namespace

Result<void> assignCollectives(Database& trace) {
  SONDE_TRY_ASSIGN(const ByProcess processes, readCollectives(trace));
  SONDE_TRY_ASSIGN(std::vector<Transfer> transfers, readTransfers(trace, processes));
  std::set<std::int64_t> used;  // channels
  for (Transfer& transfer : transfers) {
    transfer.collectiveId = transfer.collectives->ofThread(transfer);
    if (transfer.collectiveId != 0)
      used.insert(transfer.channelId);
  }
  SONDE_TRY_ASSIGN(Statement update,
                   trace.prepare("UPDATE transfer SET collective_id = ?2 WHERE id = ?1"));
  for (Transfer& transfer : transfers) {
    if (transfer.collectiveId == 0 && used.contains(transfer.channelId))
      transfer.collectiveId = transfer.collectives->onlyAround(transfer);
    if (transfer.collectiveId != 0)
      SONDE_TRY(update.bindAll(transfer.id, transfer.collectiveId).run());
  }
  return {};
}

}  // namespace sonde::engine::merge
