#include "analysis/engine/recent/recent_trace.h"

#include "analysis/engine/recent/kept_rows.h"
#include "analysis/store/each_row.h"
#include "analysis/store/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace sonde::engine::recent {
namespace {

using store::Database;
using store::Statement;

// Tables of the recorder's own state, and derived ones.
constexpr std::string_view kLeftOut[] = {
    "ingested", "open_scope", "ingest_state", "finding", "line", "lod"};

// Tables that grow with the run, and which of their rows x are new enough.
struct Aged {
  std::string_view table;
  std::string_view isNew;
};
constexpr Aged kAged[] = {
    {"scalar", "x.ts_ns >= (SELECT min(ns) FROM temp.since)"},
    {"tensor", "x.ts_ns >= (SELECT min(ns) FROM temp.since)"},
    {"sample", "x.ts_ns >= (SELECT min(ns) FROM temp.since)"},
    {"allocation", "x.free_ns IS NULL OR x.free_ns >= (SELECT min(ns) FROM temp.since)"},
};

std::string_view conditionOf(std::string_view table) {
  const Aged* const aged = std::find_if(
      std::begin(kAged), std::end(kAged), [&](const Aged& each) { return each.table == table; });
  return aged == std::end(kAged) ? "TRUE" : aged->isNew;
}

// Copies the rows to the attached trace `copy`; of tables that grow only the new ones if `isPart`.
Result<void> copyTables(Database& recent, bool isPart) {
  std::string statements;
  SONDE_TRY(store::forEachRow(
      recent,
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' "
      "ESCAPE '\\'",
      [&](const Statement& row) -> Result<void> {
        if (std::find(std::begin(kLeftOut), std::end(kLeftOut), row.text(0)) == std::end(kLeftOut))
          statements += fmt::format(
              "DELETE FROM copy.{0}; INSERT INTO copy.{0} SELECT x.* FROM {0} x WHERE {1};",
              row.text(0),
              isPart ? conditionOf(row.text(0)) : "TRUE");
        return {};
      }));
  return recent.exec("BEGIN;" + statements + "COMMIT;");
}

}  // namespace

Result<RecentTrace> RecentTrace::read(const Database& trace, RecentSize size) {
  RecentTrace result(trace);
  SONDE_TRY_ASSIGN(const Kept kept, rowsToKeep(trace, size));
  if (kept.isWhole() || trace.path() == ":memory:")
    return result;
  SONDE_TRY_ASSIGN(Database recent, store::openTrace(trace.path()));
  recent.stopWhen(trace.stopCheck());
  SONDE_TRY(keepRows(recent, kept));
  result.own_ = std::make_unique<Database>(std::move(recent));
  result.rows_ = result.own_->remember();
  return result;
}

Result<void> writeRecent(const Database& trace, const std::filesystem::path& to, RecentSize size) {
  SONDE_TRY_ASSIGN(const Kept kept, rowsToKeep(trace, size));
  std::error_code ignored;
  std::filesystem::remove(to, ignored);
  SONDE_TRY(store::createTrace(to, store::WriteMode::NoLog));
  // A read-only connection could not write to the attached file either.
  SONDE_TRY_ASSIGN(Database recent, Database::open(trace.path(), store::Access::ReadWrite));
  if (!kept.isWhole())
    SONDE_TRY(keepRows(recent, kept));
  SONDE_TRY_ASSIGN(Statement attach, recent.prepare("ATTACH ? AS copy"));
  SONDE_TRY(attach.bindAll(std::string_view(to.string())).run());
  SONDE_TRY(recent.exec("PRAGMA copy.synchronous = OFF"));
  return copyTables(recent, !kept.isWhole());
}

}  // namespace sonde::engine::recent
