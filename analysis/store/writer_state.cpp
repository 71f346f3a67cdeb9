#include "analysis/store/writer_state.h"

#include "analysis/store/columns.h"

namespace sonde::store {
namespace {

template <typename Row>
constexpr bool replaces() noexcept {
  return requires {
    Row::kReplaces;
  };
}

}  // namespace

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
  SONDE_TRY(AllRows::forEach([&]<typename Row>(const Row&) -> Result<void> {
    SONDE_TRY_ASSIGN(RowBuffer insert,
                     RowBuffer::open(database,
                                     replaces<Row>() ? "INSERT OR REPLACE" : "INSERT",
                                     Row::kTable,
                                     columnsOf(Row::kMembers)));
    all.inserts.push_back(std::move(insert));
    std::optional<Statement>& remove = all.removes.emplace_back();
    if constexpr (kHasId<Row>) {
      SONDE_TRY_ASSIGN(remove,
                       database.prepare(fmt::format("DELETE FROM {} WHERE id = ?", Row::kTable)));
    }
    return {};
  }));
  statements.emplace(std::move(all));
  return {};
}

Result<void> TraceWriter::State::flushAll() {
  return AllRows::forEach([&]<typename Row>(const Row&) { return flush<Row>(); });
}

Result<void> TraceWriter::State::loadIds() {
  SONDE_TRY(AllRows::forEach([&]<typename Row>(const Row&) -> Result<void> {
    if constexpr (kHasId<Row>) {
      SONDE_TRY_ASSIGN(
          const std::int64_t last,
          database.queryInteger(fmt::format("SELECT coalesce(max(id), 0) FROM {}", Row::kTable)));
      std::int64_t& next = nextIds[AllRows::indexOf<Row>()];
      next = std::max(next, last + 1);
    }
    return {};
  }));
  SONDE_TRY_ASSIGN(const std::int64_t open,
                   database.queryInteger("SELECT coalesce(max(slice_id), 0) FROM open_scope"));
  auto& nextSlice = nextIds[AllRows::indexOf<model::Slice>()];
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
