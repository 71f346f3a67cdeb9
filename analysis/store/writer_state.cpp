#include "analysis/store/writer_state.h"

namespace sonde::store {

Result<void> TraceWriter::State::prepareAll() {
  SONDE_TRY_ASSIGN(Statement begin, database.prepare("BEGIN IMMEDIATE"));
  SONDE_TRY_ASSIGN(Statement commit, database.prepare("COMMIT"));
  SONDE_TRY_ASSIGN(Statement unfinish, database.prepare("DELETE FROM meta WHERE key = 'finished'"));
  SONDE_TRY_ASSIGN(
      Statement drop,
      database.prepare("DELETE FROM open_scope WHERE spool = ? AND thread_id = ? AND token = ?"));
  SONDE_TRY_ASSIGN(Statement dropCalls,
                   database.prepare("DELETE FROM open_call WHERE process_id = ?"));
  SONDE_TRY_ASSIGN(Statement move,
                   database.prepare("UPDATE slice SET parent_id = ?2, depth = ?3 WHERE id = ?1"));
  SONDE_TRY_ASSIGN(Statement end,
                   database.prepare("UPDATE collective SET dur_ns = ?2 WHERE id = ?1"));
  SONDE_TRY_ASSIGN(
      Statement plan,
      database.prepare("UPDATE collective SET algorithm = ?2, protocol = ?3 WHERE id = ?1"));
  Statements all{std::move(begin),
                 std::move(commit),
                 std::move(unfinish),
                 std::move(drop),
                 std::move(dropCalls),
                 std::move(move),
                 std::move(end),
                 std::move(plan),
                 {},
                 {}};
  for (std::size_t i = 0; i < kTables.size(); ++i) {
    const auto table = static_cast<Table>(i);
    const bool keyed = table == Table::Meta || table == Table::Ingested ||
                       table == Table::OpenScope || table == Table::OpenCall ||
                       table == Table::ClockMap || table == Table::CommunicatorMember;
    SONDE_TRY_ASSIGN(
        RowBuffer insert,
        RowBuffer::open(
            database, keyed ? "INSERT OR REPLACE" : "INSERT", kTables[i].name, kTables[i].columns));
    all.inserts.push_back(std::move(insert));
    std::optional<Statement>& remove = all.removes.emplace_back();
    if (kTables[i].hasId()) {
      SONDE_TRY_ASSIGN(
          remove, database.prepare(fmt::format("DELETE FROM {} WHERE id = ?", kTables[i].name)));
    }
  }
  statements.emplace(std::move(all));
  return {};
}

Result<void> TraceWriter::State::flushAll() {
  for (std::size_t i = 0; i < kTables.size(); ++i)
    SONDE_TRY(flush(static_cast<Table>(i)));
  return {};
}

Result<void> TraceWriter::State::loadIds() {
  for (std::size_t i = 0; i < kTables.size(); ++i) {
    if (!kTables[i].hasId())
      continue;
    SONDE_TRY_ASSIGN(
        const std::int64_t last,
        database.queryInteger(fmt::format("SELECT coalesce(max(id), 0) FROM {}", kTables[i].name)));
    nextIds[i] = std::max(nextIds[i], last + 1);
  }
  SONDE_TRY_ASSIGN(const std::int64_t open,
                   database.queryInteger("SELECT coalesce(max(slice_id), 0) FROM open_scope"));
  auto& nextSlice = nextIds[static_cast<std::size_t>(Table::Slice)];
  nextSlice = std::max(nextSlice, open + 1);
  return {};
}

Result<void> TraceWriter::State::loadStrings() {
  SONDE_TRY_ASSIGN(Statement all, database.prepare("SELECT id, text FROM string ORDER BY id"));
  strings.clear();
  for (;;) {
    SONDE_TRY_ASSIGN(const bool row, all.step());
    if (!row)
      return {};
    strings.emplace(all.text(1), all.integer(0));
  }
}

}  // namespace sonde::store
