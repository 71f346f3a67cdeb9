#include "analysis/engine/merge/transfer_collectives.h"

#include "analysis/store/statement.h"

#include <algorithm>
#include <cstdint>
#include <map>
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

struct Transfer {
  std::int64_t id = 0;
  std::int64_t channelId = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
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

  // The collective that the transfer's own thread runs during it; the innermost of several; 0:
  // none.
  std::int64_t ofThread(const Transfer& transfer) const {
    std::int64_t found = 0;
    forEachOpen(transfer, [&](const Collective& collective) {
      if (collective.threadId == transfer.threadId && covers(collective, transfer))
        found = collective.id;
      return found == 0;
    });
    return found;
  }

  // The collective that is open during the whole transfer, if no other one is open at any instant
  // of it; else 0.
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
  // Visits those open during the transfer, the last begun first, until `visit` returns false.
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

// Collectives whose library does not report its transfers.
Result<ByProcess> readCollectives(const Database& trace) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT c.process_id, c.id, s.thread_id, c.start_ns,"
                                 " c.start_ns + coalesce(c.dur_ns, 0)"
                                 " FROM collective c JOIN slice s ON s.id = c.slice_id"
                                 " LEFT JOIN communicator m ON m.id = c.communicator_id"
                                 " WHERE m.backend IS NOT 'nccl'"
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

// A channel, and the collectives that its transfers may belong to.
struct Channel {
  const Collectives* collectives = nullptr;  // of its process
  bool used = false;                         // by a thread that runs one of the collectives
};
using Channels = std::map<std::int64_t, Channel>;

// Channels of processes that have collectives.
Result<Channels> readChannels(const Database& trace, const ByProcess& processes) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT id, process_id FROM channel WHERE kind <> 'nccl'"));
  Channels channels;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return channels;
    if (const auto process = processes.find(rows.integer(1)); process != processes.end())
      channels[rows.integer(0)].collectives = &process->second;
  }
}

// Visits the transfers of those channels in table order. A trace may have more than fit into
// memory.
template <typename Visit>
Result<void> forEachTransfer(const Database& trace, Channels& channels, Visit visit) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT id, channel_id, thread_id, start_ns,"
                                 " start_ns + coalesce(dur_ns, 0) FROM transfer ORDER BY id"));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return {};
    const auto channel = channels.find(rows.integer(1));
    if (channel == channels.end())
      continue;
    const Transfer transfer{
        rows.integer(0), channel->first, rows.integer(2), rows.integer(3), rows.integer(4)};
    SONDE_TRY(visit(transfer, channel->second));
  }
}

}  // namespace

Result<void> assignCollectives(Database& trace) {
  SONDE_TRY_ASSIGN(const ByProcess processes, readCollectives(trace));
  SONDE_TRY_ASSIGN(Channels channels, readChannels(trace, processes));
  if (channels.empty())
    return {};
  SONDE_TRY(forEachTransfer(
      trace, channels, [](const Transfer& transfer, Channel& channel) -> Result<void> {
        channel.used = channel.used || channel.collectives->ofThread(transfer) != 0;
        return {};
      }));
  SONDE_TRY_ASSIGN(Statement update,
                   trace.prepare("UPDATE transfer SET collective_id = ?2 WHERE id = ?1"));
  return forEachTransfer(
      trace, channels, [&](const Transfer& transfer, Channel& channel) -> Result<void> {
        if (!channel.used)
          return {};
        std::int64_t collective = channel.collectives->ofThread(transfer);
        if (collective == 0)
          collective = channel.collectives->onlyAround(transfer);
        return collective == 0 ? Result<void>() : update.bindAll(transfer.id, collective).run();
      });
}

}  // namespace sonde::engine::merge
