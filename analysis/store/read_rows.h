// Reads the rows of a query into structs whose members are columns (SONDE_COLUMNS).
//
//   struct Call {
//     std::int64_t id = 0;
//     std::int64_t startNs = 0;
//     std::optional<std::int64_t> durNs;
//
//     SONDE_COLUMNS(id, startNs, durNs)
//   };
//   SONDE_TRY(store::forEach<Call>(trace, "SELECT * FROM slice", [&](const Call& call) { … }));
//
// Columns are found by name, once a query. NULL reads as 0, the empty text or no id; a
// std::optional tells it apart. A std::string_view is valid during the call.
#pragma once

#include "analysis/model/row.h"
#include "analysis/store/columns.h"
#include "analysis/store/database.h"
#include "analysis/store/row_memo.h"
#include "analysis/store/statement.h"
#include "base/result.h"
#include "base/strong_id.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sonde::store {

void readColumn(const Statement& rows, int column, std::integral auto& value) noexcept {
  value = static_cast<std::remove_reference_t<decltype(value)>>(rows.integer(column));
}
inline void readColumn(const Statement& rows, int column, bool& value) noexcept {
  value = rows.integer(column) != 0;
}
inline void readColumn(const Statement& rows, int column, double& value) noexcept {
  value = rows.real(column);
}
inline void readColumn(const Statement& rows, int column, std::string_view& value) noexcept {
  value = rows.text(column);
}
inline void readColumn(const Statement& rows, int column, std::string& value) {
  value = rows.text(column);
}
template <typename Tag>
void readColumn(const Statement& rows, int column, StrongId<Tag>& value) noexcept {
  value = StrongId<Tag>{rows.integer(column)};
}
template <typename T>
void readColumn(const Statement& rows, int column, std::optional<T>& value) {
  value.reset();
  if (!rows.isNull(column))
    readColumn(rows, column, value.emplace());
}

// Reads a statement whose parameters are bound. `each` may return nothing or a Result<void>, whose
// first error ends the reading.
template <typename Row, typename Each>
Result<void> forEach(Statement& rows, Each each) {
  SONDE_TRY_ASSIGN(const std::vector<int> places, placesOf(rows, Row::kMembers));
  Row row;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return {};
    std::size_t next = 0;
    std::apply([&](auto&... values) { (readColumn(rows, places[next++], values), ...); },
               row.columns());
    if constexpr (std::is_void_v<decltype(each(row))>)
      each(row);
    else
      SONDE_TRY(each(row));
  }
}

// Calls `each` as forEach() does.
template <typename Row, typename Each>
Result<void> forEachOf(const std::vector<Row>& rows, Each each) {
  for (const Row& row : rows)
    if constexpr (std::is_void_v<decltype(each(row))>)
      each(row);
    else
      SONDE_TRY(each(row));
  return {};
}

// Reads the rows once, and keeps them.
template <typename Row, typename Each>
Result<void> forEachKept(const Database& trace, std::string_view sql, RowMemo& memo, Each each) {
  if (const std::vector<Row>* known = memo.find<Row>(sql))
    return forEachOf(*known, std::move(each));
  std::vector<Row> all;
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(sql));
  SONDE_TRY(forEach<Row>(rows, [&](const Row& row) { all.push_back(row); }));
  SONDE_TRY(forEachOf(all, std::move(each)));
  memo.keep(sql, std::move(all));
  return {};
}

template <typename Row, typename Each>
Result<void> forEach(const Database& trace, std::string_view sql, Each each) {
  if constexpr (RowMemo::canKeep<Row>())
    if (const std::shared_ptr<RowMemo> memo = trace.rowMemo())
      return forEachKept<Row>(trace, sql, *memo, std::move(each));
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(sql));
  return forEach<Row>(rows, std::move(each));
}

template <typename Row>
Result<std::vector<Row>> readAll(const Database& trace, std::string_view sql) {
  std::vector<Row> all;
  SONDE_TRY(forEach<Row>(trace, sql, [&](const Row& row) { all.push_back(row); }));
  return all;
}

}  // namespace sonde::store
