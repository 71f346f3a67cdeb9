#include "analysis/engine/standstill/open_work.h"

#include "analysis/store/each_row.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace sonde::engine::standstill {
namespace {

using store::Statement;

// Traces of older versions do not have the table.
constexpr std::string_view kHasTable =
    "SELECT count(*) FROM sqlite_schema WHERE name = 'v_open_call'";
constexpr std::string_view kMayStandStill =
    "SELECT EXISTS (SELECT 1 FROM process WHERE state IN ('running', 'signalled', 'unknown') OR"
    " exit_status <> 0) AND (EXISTS (SELECT 1 FROM open_call) OR EXISTS (SELECT 1 FROM collective"
    " WHERE dur_ns IS NULL))";

constexpr std::string_view kOpenCalls =
    "SELECT process_id, thread_id, tid, kind, category, name, start_ns, job_key, op, seq, bytes,"
    " peer, tag, remote, waits_for_tid, channel FROM v_open_call ORDER BY process_id, thread_id, "
    "depth";

// Collectives that are not among the open calls. One that its communicator's abort ended is not
// open, and neither is one that ended at an unknown time.
constexpr std::string_view kOpenCollectives =
    "SELECT c.process_id, 0, 0, 'collective', coalesce(m.backend, ''), c.op, c.start_ns, m.job_key,"
    " c.op, c.seq, c.bytes, c.peer, NULL, NULL, NULL, NULL FROM v_collective c"
    " LEFT JOIN communicator m ON m.id = c.communicator_id"
    " WHERE c.dur_ns IS NULL AND c.id NOT IN (SELECT collective_id FROM open_call WHERE"
    " collective_id IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM arg a JOIN string k ON k.id ="
    " a.key_id WHERE a.owner = 'collective' AND a.owner_id = c.id AND k.text IN ('aborted',"
    " 'completed', 'unfinished')) ORDER BY c.process_id, c.start_ns";

constexpr std::string_view kLastCollectives =
    "SELECT c.process_id, coalesce(m.job_key, ''), c.op, c.seq, max(c.end_ns) FROM v_collective c"
    " LEFT JOIN communicator m ON m.id = c.communicator_id WHERE c.dur_ns IS NOT NULL"
    " GROUP BY c.process_id, m.job_key";

// The other end of an MPI channel is "GROUP/PEER/SELF", with ranks in the group.
void readPeer(std::string_view remote, OpenCall& call) {
  const std::size_t self = remote.rfind('/');
  const std::size_t peer =
      self == remote.npos || self == 0 ? remote.npos : remote.rfind('/', self - 1);
  std::int64_t rank = 0;
  if (peer == remote.npos ||
      std::from_chars(remote.data() + peer + 1, remote.data() + self, rank).ec != std::errc())
    return;
  call.peer = rank;
  call.group = remote.substr(0, peer);
}

OpenCall readCall(const Statement& row) {
  OpenCall call;
  call.processId = row.integer(0);
  call.threadId = row.integer(1);
  call.tid = row.integer(2);
  call.kind = row.text(3);
  call.category = row.text(4);
  call.name = row.text(5);
  call.sinceNs = row.integer(6);
  call.group = row.text(7);
  call.op = row.text(8);
  call.seq = row.optionalInteger(9);
  call.bytes = row.optionalInteger(10);
  call.peer = row.optionalInteger(11);
  call.tag = row.optionalInteger(12);
  call.waitsForTid = row.optionalInteger(14);
  if (row.text(15) == "mpi")
    readPeer(row.text(13), call);
  else
    call.remote = row.text(13);
  return call;
}

}  // namespace

Result<bool> mayStandStill(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t hasTable, trace.queryInteger(kHasTable));
  if (hasTable == 0)
    return false;
  SONDE_TRY_ASSIGN(const std::int64_t may, trace.queryInteger(kMayStandStill));
  return may != 0;
}

Result<std::vector<OpenCall>> readOpenCalls(const store::Database& trace) {
  std::vector<OpenCall> calls;
  const auto add = [&](const Statement& row) -> Result<void> {
    calls.push_back(readCall(row));
    return {};
  };
  SONDE_TRY(store::forEachRow(trace, kOpenCalls, add));
  SONDE_TRY(store::forEachRow(trace, kOpenCollectives, add));
  std::stable_sort(calls.begin(), calls.end(), [](const OpenCall& a, const OpenCall& b) {
    return a.processId < b.processId;
  });
  return calls;
}

Result<LastCollectives> readLastCollectives(const store::Database& trace) {
  LastCollectives last;
  SONDE_TRY(store::forEachRow(trace, kLastCollectives, [&](const Statement& row) -> Result<void> {
    const LastCollective one{
        std::string(row.text(1)), std::string(row.text(2)), row.optionalInteger(3), row.integer(4)};
    last[{row.integer(0), one.group}] = one;
    LastCollective& ofAll = last[{row.integer(0), ""}];
    if (one.endNs >= ofAll.endNs)
      ofAll = one;
    return {};
  }));
  return last;
}

}  // namespace sonde::engine::standstill
