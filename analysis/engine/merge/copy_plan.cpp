#include "analysis/engine/merge/copy_plan.h"

#include "analysis/model/words.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::engine::merge {
namespace {

template <typename List>
bool holds(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

constexpr std::string_view kJoinedTables[] = {"string", "host", "device", "meta"};
// Tables that are not copied. clock_map relates the hosts of one job, and a merge changes them.
// ingested and the recorder's own tables refer to spools. The finaliser builds line and lod.
constexpr std::string_view kRemadeTables[] = {
    "clock_map", "ingested", "line", "lod", "open_scope", "ingest_state"};
constexpr std::string_view kMappedTables[] = {"string", "host", "device"};

// Columns that name the table of an id column.
struct Polymorphic {
  std::string_view table;
  std::string_view id;
  std::string_view owner;
};
constexpr Polymorphic kPolymorphic[] = {
    {"arg", "owner_id", "owner"}, {"link", "from_id", "from_owner"}, {"link", "to_id", "to_owner"}};
std::string inQuotes(std::string_view name) {
  return fmt::format("\"{}\"", name);
}

std::string movedId(const std::string& column, const std::string& target, const Offsets& offsets) {
  if (isMapped(target))
    return fmt::format("(SELECT new_id FROM temp.map_{} WHERE old_id = {})", target, column);
  const auto offset = offsets.find(target);
  return fmt::format("{} + {}", column, offset == offsets.end() ? 0 : offset->second);
}

ColumnPlan planColumn(const std::string& table, const std::string& name, bool primaryKey) {
  for (const Polymorphic& polymorphic : kPolymorphic)
    if (polymorphic.table == table && polymorphic.id == name)
      return {name, Role::Polymorphic, std::string(polymorphic.owner)};
  if (primaryKey && name == "id")
    return {name, Role::Id, table};
  if (holds(timeColumns(), name))
    return {name, Role::Time, ""};
  return {name, Role::Plain, ""};
}

Result<TablePlan> planTable(const store::Database& trace, const std::string& name) {
  TablePlan table{name, {}, false};
  SONDE_TRY_ASSIGN(store::Statement columns,
                   trace.prepare("SELECT name, pk FROM pragma_table_info(?1, 'main')"));
  columns.bind(1, std::string_view(name));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, columns.step());
    if (!row)
      break;
    table.columns.push_back(planColumn(name, std::string(columns.text(0)), columns.integer(1) > 0));
    table.hasId = table.hasId || table.columns.back().role == Role::Id;
  }
  SONDE_TRY_ASSIGN(
      store::Statement keys,
      trace.prepare("SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?1, 'main')"));
  keys.bind(1, std::string_view(name));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, keys.step());
    if (!row)
      break;
    for (ColumnPlan& column : table.columns)
      if (column.name == keys.text(0))
        column = {column.name, Role::Reference, std::string(keys.text(1))};
  }
  return table;
}

}  // namespace

const std::vector<std::string_view>& timeColumns() {
  static const std::vector<std::string_view> kColumns = {"start_ns",
                                                         "end_ns",
                                                         "ts_ns",
                                                         "open_ns",
                                                         "queued_ns",
                                                         "submitted_ns",
                                                         "waker_ns",
                                                         "block_ns",
                                                         "wake_ns",
                                                         "alloc_ns",
                                                         "free_ns",
                                                         "from_ns",
                                                         "seen_ns"};
  return kColumns;
}

const std::vector<std::string_view>& durationColumns() {
  // monotonic_ns and realtime_ns are readings of those clocks, not job times.
  static const std::vector<std::string_view> kColumns = {"dur_ns",
                                                         "launch_delay_ns",
                                                         "wait_ns",
                                                         "transfer_ns",
                                                         "cpu_ns",
                                                         "mean_ns",
                                                         "error_ns",
                                                         "before_ns",
                                                         "inside_ns",
                                                         "unrecorded_ns",
                                                         "offset_ns",
                                                         "busy_ns",
                                                         "monotonic_ns",
                                                         "realtime_ns"};
  return kColumns;
}

const std::vector<std::string_view>& foreignIdColumns() {
  static const std::vector<std::string_view> kColumns = {
      "boot_id", "build_id", "correlation_id", "graph_id", "graph_node_id", "event_id"};
  return kColumns;
}

bool isCopied(std::string_view table) {
  return !holds(kJoinedTables, table) && !holds(kRemadeTables, table);
}

bool isMapped(std::string_view table) {
  return holds(kMappedTables, table);
}

Result<CopyPlan> planCopies(const store::Database& trace) {
  SONDE_TRY_ASSIGN(store::Statement names,
                   trace.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table'"
                                 " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"));
  CopyPlan plan;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, names.step());
    if (!row)
      return plan;
    if (!isCopied(names.text(0)))
      continue;
    SONDE_TRY_ASSIGN(TablePlan table, planTable(trace, std::string(names.text(0))));
    plan.push_back(std::move(table));
  }
}

std::string translated(const ColumnPlan& column,
                       const std::string& table,
                       const Offsets& offsets,
                       std::int64_t shiftNs) {
  std::string name = inQuotes(column.name);
  switch (column.role) {
    case Role::Plain:
      return name;
    case Role::Id:
      return movedId(name, table, offsets);
    case Role::Reference:
      return movedId(name, column.target, offsets);
    case Role::Time:
      return fmt::format("{} + {}", name, shiftNs);
    case Role::Polymorphic:
      break;
  }
  std::string cases = fmt::format("CASE {}", inQuotes(column.target));
  for (std::uint8_t number = 1;; ++number) {
    const std::string owner(model::word(static_cast<model::Owner>(number)));
    if (owner.empty())
      return cases + " END";
    cases += fmt::format(" WHEN '{0}' THEN {1}", owner, movedId(name, owner, offsets));
  }
}

std::string copyStatement(const TablePlan& table, const Offsets& offsets, std::int64_t shiftNs) {
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (const ColumnPlan& column : table.columns) {
    names.push_back(inQuotes(column.name));
    values.push_back(translated(column, table.name, offsets, shiftNs));
  }
  return fmt::format("INSERT INTO main.{0}({1}) SELECT {2} FROM source.{0}",
                     table.name,
                     fmt::join(names, ", "),
                     fmt::join(values, ", "));
}

}  // namespace sonde::engine::merge
