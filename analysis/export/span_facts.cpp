#include "analysis/export/span_facts.h"

#include "analysis/export/strict_json.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::exports {
namespace {

using store::ColumnType;
using store::Statement;

// The key under which an import keeps all arguments of an event, as JSON text.
constexpr std::string_view kWholeArgs = "args";

constexpr std::uint64_t kFlowKinds = 3;  // arrows to kernels, to copies, and links

std::string quoted(std::string_view text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string jsonOf(const Statement& row, int column) {
  switch (row.columnType(column)) {
    case ColumnType::Integer:
      return std::to_string(row.integer(column));
    case ColumnType::Real:
      return nlohmann::json(row.real(column)).dump();
    case ColumnType::Null:
      return "null";
    default:
      return quoted(row.text(column));
  }
}

void append(std::string& object, std::string_view key, std::string_view value) {
  object.append(object.empty() ? "{" : ",").append(quoted(key)).append(":").append(value);
}

void close(std::string& object) {
  if (!object.empty())
    object.push_back('}');
}

std::size_t indexOf(std::string_view owner) noexcept {
  return owner == "kernel" ? 0 : owner == "copy" ? 1 : 2;
}

// The columns of a row of device work, under torch.profiler's argument names.
constexpr std::array<std::string_view, 3> kWorkFacts = {
    "SELECT d.ordinal AS device, s.number AS stream, k.correlation_id AS correlation, k.bytes, "
    "CASE WHEN k.grid_x IS NOT NULL THEN json_array(k.grid_x, k.grid_y, k.grid_z) END AS grid, "
    "CASE WHEN k.block_x IS NOT NULL THEN json_array(k.block_x, k.block_y, k.block_z) END AS "
    "block, k.registers AS \"registers per thread\", "
    "k.static_shared_bytes + coalesce(k.dynamic_shared_bytes, 0) AS \"shared memory\", "
    "iif(k.dynamic_shared_bytes IS NULL, NULL, k.static_shared_bytes) AS \"static shared memory\", "
    "k.dynamic_shared_bytes AS \"dynamic shared memory\", k.local_bytes AS \"local memory\", "
    "k.graph_id AS \"graph id\", k.graph_node_id AS \"graph node id\" FROM kernel k "
    "JOIN stream s ON s.id = k.stream_id LEFT JOIN device d ON d.id = s.device_id WHERE k.id = ?",
    "SELECT d.ordinal AS device, s.number AS stream, k.correlation_id AS correlation, k.bytes, "
    "k.pinned, k.graph_id AS \"graph id\", k.graph_node_id AS \"graph node id\" FROM copy k "
    "JOIN stream s ON s.id = k.stream_id LEFT JOIN device d ON d.id = s.device_id WHERE k.id = ?",
    "SELECT d.ordinal AS device, coalesce(s.number, -1) AS stream, "
    "k.correlation_id AS correlation, k.event_id AS wait_on_cuda_event_id, "
    "r.correlation_id AS wait_on_cuda_event_record_corr_id FROM sync k "
    "LEFT JOIN sync r ON r.id = k.waits_for_id LEFT JOIN stream s ON s.id = k.stream_id LEFT JOIN "
    "device d ON d.id = s.device_id "
    "WHERE k.id = ?"};

// The thread that woke a waiting thread.
constexpr std::string_view kHandoffFacts =
    "SELECT h.kind AS \"waits at\", w.tid AS \"waker tid\", nullif(w.name, '') AS waker, "
    "iif(w.id IS NULL, NULL, h.certain) AS certain, h.wake_ns - h.waker_ns AS \"wake-up ns\" "
    "FROM handoff h LEFT JOIN thread w ON w.id = h.waker_thread_id WHERE h.slice_id = ?";

Result<bool> any(const store::Database& trace, std::string_view sql) {
  SONDE_TRY_ASSIGN(const std::int64_t found, trace.queryInteger(sql));
  return found != 0;
}

}  // namespace

SpanFacts::SpanFacts(Statement args, Statement links, Statement launches) noexcept
    : args_(std::move(args)), links_(std::move(links)), launches_(std::move(launches)) {}

Result<SpanFacts> SpanFacts::open(const store::Database& trace) {
  SONDE_TRY_ASSIGN(Statement args,
                   trace.prepare("SELECT key, value FROM v_arg WHERE owner = ? AND owner_id = ?"));
  SONDE_TRY_ASSIGN(
      Statement links,
      trace.prepare("SELECT rowid, kind, 1 FROM link WHERE from_owner = ?1 AND from_id = ?2 UNION "
                    "ALL SELECT rowid, kind, 0 FROM link WHERE to_owner = ?1 AND to_id = ?2"));
  SONDE_TRY_ASSIGN(Statement launches,
                   trace.prepare("SELECT 'kernel', id FROM kernel WHERE correlation_id = ?1 AND "
                                 "launch_slice_id = ?2 UNION ALL SELECT 'copy', id FROM copy WHERE "
                                 "correlation_id = ?1 AND launch_slice_id = ?2"));
  SpanFacts facts(std::move(args), std::move(links), std::move(launches));
  for (const std::string_view sql : kWorkFacts) {
    SONDE_TRY_ASSIGN(Statement work, trace.prepare(sql));
    facts.work_.push_back(std::move(work));
  }
  SONDE_TRY_ASSIGN(const bool anyHandoffs, any(trace, "SELECT EXISTS (SELECT 1 FROM handoff)"));
  if (anyHandoffs) {
    SONDE_TRY_ASSIGN(facts.handoffs_, trace.prepare(kHandoffFacts));
  }
  SONDE_TRY_ASSIGN(facts.anyArgs_, any(trace, "SELECT EXISTS (SELECT 1 FROM arg)"));
  SONDE_TRY_ASSIGN(facts.anyLinks_, any(trace, "SELECT EXISTS (SELECT 1 FROM link)"));
  SONDE_TRY_ASSIGN(facts.anyLaunches_, any(trace, "SELECT EXISTS (SELECT 1 FROM stream)"));
  return facts;
}

std::string_view SpanFacts::categoryOf(std::string_view owner, std::string_view kind) noexcept {
  if (owner == "kernel")
    return "kernel";
  if (owner == "sync")
    return "cuda_sync";
  return kind == "set" ? "gpu_memset" : "gpu_memcpy";
}

std::string_view SpanFacts::nameOfSync(std::string_view kind) noexcept {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"stream", "Stream Sync"},
      {"context", "Context Sync"},
      {"event", "Event Sync"},
      {"record", "Event Record"},
      {"wait", "Stream Wait Event"},
  };
  for (const auto& [word, name] : kNames)
    if (word == kind)
      return name;
  return kind;
}

// Returns whether they came from an import and so are complete.
Result<bool> SpanFacts::readArgs(std::string_view owner, std::int64_t id) {
  json_.clear();
  if (!anyArgs_)
    return false;
  args_.bindAll(owner, id);
  bool whole = false;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool row, args_.step());
    if (!row)
      return whole;
    if (args_.text(0) == kWholeArgs && args_.text(1).starts_with('{')) {
      json_ = strictJson(args_.text(1));
      whole = true;
    } else if (!whole) {
      append(json_, args_.text(0), jsonOf(args_, 1));
    }
  }
}

Result<std::string_view> SpanFacts::argsOfSlice(std::int64_t id, model::OptionalInt correlation) {
  SONDE_TRY_ASSIGN(const bool whole, readArgs("slice", id));
  if (!whole) {
    if (correlation)
      append(json_, "correlation", std::to_string(*correlation));
    if (handoffs_)
      SONDE_TRY(readFacts(*handoffs_, id));
    close(json_);
  }
  return std::string_view(json_);
}

Result<void> SpanFacts::readFacts(Statement& row, std::int64_t id) {
  row.bindAll(id);
  SONDE_TRY_ASSIGN(const bool found, row.step());
  for (int column = 0; found && column < row.columnCount(); ++column) {
    const std::string name = row.columnName(column);
    const bool array = name == "grid" || name == "block";
    if (!row.isNull(column))
      append(json_, name, array ? std::string(row.text(column)) : jsonOf(row, column));
  }
  row.reset();
  return {};
}

Result<std::string_view> SpanFacts::argsOfWork(std::string_view owner, std::int64_t id) {
  SONDE_TRY_ASSIGN(const bool whole, readArgs(owner, id));
  if (!whole) {
    SONDE_TRY(readFacts(work_[indexOf(owner)], id));
    close(json_);
  }
  return std::string_view(json_);
}

Result<void> SpanFacts::readLinks(std::string_view owner, std::int64_t id) {
  if (!anyLinks_)
    return {};
  links_.bindAll(owner, id);
  for (;;) {
    SONDE_TRY_ASSIGN(const bool row, links_.step());
    if (!row)
      return {};
    const auto number = static_cast<std::uint64_t>(links_.integer(0));
    const std::string_view kind = *kinds_.emplace(links_.text(1)).first;
    flows_.push_back({kFlowKinds * number + 2, kind, links_.integer(2) != 0});
  }
}

Result<std::span<const FlowEnd>> SpanFacts::flowsOfSlice(std::int64_t id,
                                                         model::OptionalInt correlation) {
  flows_.clear();
  SONDE_TRY(readLinks("slice", id));
  if (anyLaunches_ && correlation) {
    launches_.bindAll(*correlation, id);
    for (;;) {
      SONDE_TRY_ASSIGN(const bool row, launches_.step());
      if (!row)
        break;
      const auto number = static_cast<std::uint64_t>(launches_.integer(1));
      flows_.push_back({kFlowKinds * number + indexOf(launches_.text(0)), kLaunch, true});
    }
  }
  return std::span<const FlowEnd>(flows_);
}

Result<std::span<const FlowEnd>> SpanFacts::flowsOfWork(std::string_view owner,
                                                        std::int64_t id,
                                                        bool launched) {
  flows_.clear();
  SONDE_TRY(readLinks(owner, id));
  if (launched)
    flows_.push_back(
        {kFlowKinds * static_cast<std::uint64_t>(id) + indexOf(owner), kLaunch, false});
  return std::span<const FlowEnd>(flows_);
}

}  // namespace sonde::exports
