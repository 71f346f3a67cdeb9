// Reads the records that thread_time.h accounts for.
#include "analysis/engine/metrics/thread_time.h"
#include "analysis/store/statement.h"

#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::Statement;

using Records = std::map<std::int64_t, ThreadRecord>;  // by thread

Result<void> readTotals(const store::Database& trace,
                        std::string_view counter,
                        std::vector<TotalAt> ThreadRecord::*totals,
                        Records& records) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare("SELECT c.thread_id, x.ts_ns, CAST(x.value AS INTEGER) FROM counter c"
                    " JOIN string n ON n.id = c.name_id JOIN sample x ON x.counter_id = c.id"
                    " WHERE c.thread_id IS NOT NULL AND n.text = ? AND x.value IS NOT NULL"
                    " ORDER BY c.thread_id, x.ts_ns"));
  rows.bind(1, counter);
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    auto& readings = records[rows.integer(0)].*totals;
    if (readings.empty() || readings.back().ns < rows.integer(1))
      readings.push_back({rows.integer(1), rows.integer(2)});
  }
}

Cause causeOf(std::string_view kind, std::string_view category, std::string_view call) {
  if (kind == "io")
    return Cause::File;
  if (kind != "wait")
    return category == "mpi" ? Cause::Message : Cause::Device;
  static const std::unordered_map<std::string_view, Cause> kCalls = {
      {"pthread_join", Cause::Join},
      {"pthread_timedjoin_np", Cause::Join},
      {"pthread_clockjoin_np", Cause::Join},
      {"wait", Cause::Join},
      {"wait3", Cause::Join},
      {"wait4", Cause::Join},
      {"waitid", Cause::Join},
      {"waitpid", Cause::Join},
      {"nanosleep", Cause::Sleep},
      {"clock_nanosleep", Cause::Sleep},
      {"thrd_sleep", Cause::Sleep},
      {"usleep", Cause::Sleep},
      {"sleep", Cause::Sleep},
      {"pause", Cause::Sleep},
      {"sigsuspend", Cause::Sleep},
      {"sigwait", Cause::Sleep},
      {"sigwaitinfo", Cause::Sleep},
      {"sigtimedwait", Cause::Sleep},
      {"poll", Cause::Message},
      {"ppoll", Cause::Message},
      {"select", Cause::Message},
      {"pselect", Cause::Message},
      {"epoll_wait", Cause::Message},
      {"epoll_pwait", Cause::Message},
      {"epoll_pwait2", Cause::Message},
      {"open", Cause::Message},
      {"fopen", Cause::Message},
      {"freopen", Cause::Message},
      {"accept", Cause::Message},
      {"accept4", Cause::Message},
      {"connect", Cause::Message},
      {"receive", Cause::Message},
      {"send", Cause::Message},
      {"read", Cause::Message},
      {"write", Cause::Message},
      {"readv", Cause::Message},
      {"writev", Cause::Message},
  };
  const auto found = kCalls.find(call);
  return found == kCalls.end() ? Cause::Lock : found->second;
}

constexpr std::string_view kMessage = "message";

// `query`: rows of (thread, kind, category, name, begin, end); an unknown end is NULL.
Result<void> readWaits(const store::Database& trace, const char* query, Records& records) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(query));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    const auto record = records.find(rows.integer(0));
    if (record == records.end())
      continue;
    const Cause cause = rows.text(1) == kMessage
                            ? Cause::Message
                            : causeOf(rows.text(1), rows.text(2), rows.text(3));
    record->second.waits.push_back(
        {{rows.integer(4), rows.optionalInteger(5).value_or(INT64_MAX)}, cause});
  }
}

constexpr char kCalls[] =
    "SELECT s.thread_id, s.kind, s.category, n.text, s.start_ns, s.start_ns + s.dur_ns FROM slice s"
    " JOIN string n ON n.id = s.name_id WHERE s.kind IN ('wait', 'io')"
    " OR s.category IN ('mpi', 'cuda_runtime', 'cuda_driver')";

// A message's own time is not a call's: MPI's calls are slices.
constexpr char kTransfers[] =
    "SELECT x.thread_id, 'message', NULL, NULL, x.start_ns, x.start_ns + x.dur_ns FROM transfer x"
    " JOIN channel c ON c.id = x.channel_id WHERE c.kind IN ('tcp', 'unix', 'pipe')"
    " AND x.thread_id IS NOT NULL AND x.dur_ns > 0";

}  // namespace

Result<std::vector<ThreadTime>> threadTimes(const store::Database& trace) {
  Records records;
  SONDE_TRY(readTotals(trace, "cpu time", &ThreadRecord::running, records));
  SONDE_TRY(readTotals(trace, "run queue time", &ThreadRecord::runnable, records));
  SONDE_TRY(readTotals(trace, "major page faults", &ThreadRecord::majorFaults, records));
  std::erase_if(records, [](const auto& each) {
    return each.second.running.size() < 2 || each.second.runnable.size() < 2;
  });
  SONDE_TRY(readWaits(trace, kCalls, records));
  SONDE_TRY(readWaits(trace, kTransfers, records));
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT t.id, p.id, p.rank, p.pid, t.tid, coalesce(t.name, '')"
                                 " FROM thread t JOIN process p ON p.id = t.process_id"
                                 " ORDER BY p.rank IS NULL, p.rank, p.id, t.id"));
  std::vector<ThreadTime> times;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return times;
    const auto record = records.find(rows.integer(0));
    if (record == records.end())
      continue;
    ThreadTime& time = times.emplace_back(accountFor(record->second));
    time.threadId = rows.integer(0);
    time.processId = rows.integer(1);
    time.rank = rows.optionalInteger(2);
    time.pid = rows.integer(3);
    time.tid = rows.integer(4);
    time.name = rows.text(5);
  }
}

}  // namespace sonde::engine::metrics
