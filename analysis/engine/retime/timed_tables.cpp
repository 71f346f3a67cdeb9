#include "analysis/engine/retime/timed_tables.h"

#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::retime {
namespace {

// `thread`, `process` and `host` are expressions over x, a row of the table; `begin` and `end` are
// columns. Empty: none.
struct Timed {
  std::string_view table;
  std::string_view key;
  std::string_view thread;
  std::string_view process;
  std::string_view host;
  std::string_view begin;
  std::string_view end;  // or dur_ns: the length from `begin`
};

constexpr std::string_view kOfThreadOrSlice =
    "coalesce(thread_id, (SELECT thread_id FROM slice WHERE id = x.slice_id))";
constexpr std::string_view kOfProcessOrStream =
    "coalesce(x.process_id, (SELECT process_id FROM stream WHERE id = x.stream_id))";
// The thread that called, of a synchronisation.
constexpr std::string_view kOfCall =
    "(SELECT s.thread_id FROM slice s JOIN thread t ON t.id = s.thread_id WHERE s.correlation_id = "
    "x.correlation_id AND t.process_id = coalesce(x.process_id, (SELECT process_id FROM stream "
    "WHERE id = x.stream_id)) LIMIT 1)";
constexpr std::string_view kOfChannel = "(SELECT process_id FROM channel WHERE id = x.channel_id)";
constexpr std::string_view kCounterThread =
    "(SELECT thread_id FROM counter WHERE id = x.counter_id)";
constexpr std::string_view kCounterProcess =
    "(SELECT process_id FROM counter WHERE id = x.counter_id)";
constexpr std::string_view kCounterHost = "(SELECT host_id FROM counter WHERE id = x.counter_id)";
constexpr std::string_view kOpenCall = "process_id || ' ' || thread_id || ' ' || depth";

// The waker of a hand-off ends the wait: its time is an end.
constexpr Timed kTimed[] = {
    {"process", "id", "", "id", "host_id", "start_ns", "end_ns"},
    {"thread", "id", "id", "process_id", "", "start_ns", "end_ns"},
    {"sync", "id", kOfCall, kOfProcessOrStream, "", "start_ns", "dur_ns"},
    {"device_metric", "rowid", "thread_id", "", "", "start_ns", "dur_ns"},
    {"channel", "id", "", "process_id", "", "open_ns", ""},
    {"transfer", "id", kOfThreadOrSlice, kOfChannel, "", "start_ns", "dur_ns"},
    {"handoff", "slice_id", "wakee_thread_id", "", "", "block_ns", "wake_ns"},
    {"handoff", "slice_id", "waker_thread_id", "", "", "", "waker_ns"},
    {"scalar", "rowid", "", "process_id", "", "ts_ns", ""},
    {"tensor", "rowid", "", "process_id", "", "ts_ns", ""},
    {"sample", "rowid", kCounterThread, kCounterProcess, kCounterHost, "ts_ns", ""},
    {"stack_sample", "rowid", "thread_id", "", "", "ts_ns", ""},
    {"allocation", "id", kOfThreadOrSlice, "process_id", "", "alloc_ns", "free_ns"},
    {"mapping", "rowid", "", "process_id", "", "from_ns", ""},
    {"storing", "rowid", "", "", "host_id", "start_ns", "dur_ns"},
    {"note", "id", "", "process_id", "", "ts_ns", ""},
    {"open_call", kOpenCall, "thread_id", "process_id", "", "start_ns", "seen_ns"},
};

// Times that other columns hold: an argument of a collective or communicator, and keys of `meta`
// that end in the id of a process.
constexpr std::string_view kArguments =
    "SELECT x.rowid AS id, coalesce(c.process_id, m.process_id) AS process, x.value AS begin_ns "
    "FROM arg x JOIN string k ON k.id = x.key_id LEFT JOIN collective c ON x.owner = 'collective' "
    "AND c.id = x.owner_id LEFT JOIN communicator m ON x.owner = 'communicator' AND m.id = "
    "x.owner_id WHERE x.owner IN ('collective', 'communicator') AND k.text IN ('launched_ns', "
    "'aborted_ns') AND typeof(x.value) = 'integer'";

struct TimedRow {
  std::string id;
  std::int64_t thread = 0;
  std::int64_t process = 0;
  std::int64_t host = 0;
  std::optional<std::int64_t> beginNs;
  std::optional<std::int64_t> endNs;

  SONDE_COLUMNS(id, thread, process, host, beginNs, endNs)
};

struct TimedArgument {
  std::int64_t id = 0;
  std::int64_t process = 0;
  std::int64_t beginNs = 0;

  SONDE_COLUMNS(id, process, beginNs)
};

struct KeptTime {
  std::string key;
  std::int64_t process = 0;
  std::optional<std::int64_t> beginNs;
  std::optional<std::int64_t> endNs;

  SONDE_COLUMNS(key, process, beginNs, endNs)
};

std::string updateOf(const Timed& timed) {
  std::vector<std::string> sets;
  if (!timed.begin.empty())
    sets.push_back(fmt::format("{} = ?2", timed.begin));
  if (!timed.end.empty())
    sets.push_back(fmt::format("{} = ?3{}", timed.end, timed.end == "dur_ns" ? " - ?2" : ""));
  return fmt::format(
      "UPDATE {} SET {} WHERE {} = ?1", timed.table, fmt::join(sets, ", "), timed.key);
}

std::string rowsOf(const Timed& timed) {
  const auto orNull = [](std::string_view sql) { return sql.empty() ? "NULL" : sql; };
  return fmt::format(
      "SELECT {} AS id, {} AS thread, {} AS process, {} AS host, {} AS begin_ns, {} AS end_ns FROM "
      "{} AS x NOT INDEXED",
      timed.key,
      orNull(timed.thread),
      orNull(timed.process),
      orNull(timed.host),
      orNull(timed.begin),
      timed.end == "dur_ns" ? "start_ns + dur_ns" : orNull(timed.end),
      timed.table);
}

// Rows are read in the order of their table, which no change of a time alters.
Result<void> moveTable(store::Database& trace, const RowTimes& times, const Timed& timed) {
  SONDE_TRY_ASSIGN(store::Statement update, trace.prepare(updateOf(timed)));
  return store::forEach<TimedRow>(trace, rowsOf(timed), [&](const TimedRow& row) -> Result<void> {
    const RowSpan measured{row.beginNs, row.endNs};
    const RowSpan moved = times.ofRow({row.thread, row.process, row.host}, measured);
    if (moved.beginNs == measured.beginNs && moved.endNs == measured.endNs)
      return {};
    update.bind(1, std::string_view(row.id));
    if (!timed.begin.empty())
      update.bind(2, moved.beginNs);
    if (!timed.end.empty())
      update.bind(3, moved.endNs);
    return update.run();
  });
}

Result<void> moveArguments(store::Database& trace, const RowTimes& times) {
  SONDE_TRY_ASSIGN(store::Statement update,
                   trace.prepare("UPDATE arg SET value = ?2 WHERE rowid = ?1"));
  return store::forEach<TimedArgument>(
      trace, kArguments, [&](const TimedArgument& row) -> Result<void> {
        const RowSpan moved = times.ofRow({0, row.process, 0}, {row.beginNs, std::nullopt});
        return update.bindAll(row.id, moved.beginNs).run();
      });
}

// The watermarks, and the spans that a trimmed trace has kept.
Result<void> moveMeta(store::Database& trace, const RowTimes& times) {
  SONDE_TRY_ASSIGN(
      const std::vector<KeptTime> all,
      store::readAll<KeptTime>(
          trace,
          "SELECT key, CAST(substr(key, instr(key, ':') + 1) AS INTEGER) AS process, "
          "iif(key LIKE 'kept%', json_extract(value, '$[0]'), NULL) AS begin_ns, "
          "iif(key LIKE 'kept%', json_extract(value, '$[1]'), CAST(value AS INTEGER)) AS end_ns "
          "FROM meta WHERE key = 'watermark_ns' OR key GLOB 'watermark_ns:*' OR key GLOB "
          "'kept_ns:*'"));
  SONDE_TRY_ASSIGN(store::Statement update,
                   trace.prepare("UPDATE meta SET value = iif(?2 IS NULL, CAST(?3 AS TEXT), "
                                 "json_array(?2, ?3)) WHERE key = ?1"));
  for (const KeptTime& each : all) {
    const RowSpan moved = times.ofRow({0, each.process, 0}, {each.beginNs, each.endNs});
    SONDE_TRY(update.bindAll(std::string_view(each.key), moved.beginNs, moved.endNs).run());
  }
  return {};
}

}  // namespace

Result<void> moveTables(store::Database& trace, const RowTimes& times) {
  for (const Timed& each : kTimed)
    SONDE_TRY(moveTable(trace, times, each));
  SONDE_TRY(moveArguments(trace, times));
  return moveMeta(trace, times);
}

}  // namespace sonde::engine::retime
