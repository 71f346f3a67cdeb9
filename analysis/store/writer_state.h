// The state of a TraceWriter: connection, statements, strings and next ids. Within analysis/store;
// one thread.
#pragma once

#include "analysis/store/row_buffer.h"
#include "analysis/store/trace_writer.h"
#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace sonde::store {

struct TextHash {
  using is_transparent = void;  // find() takes views without making a string
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};
using StringIds = std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>>;

// The types of rows, in the order of SONDE_ROWS; a table's index is that of its rows' type.
template <typename... Rows>
struct RowTypes {
  static constexpr std::size_t kCount = sizeof...(Rows);
  template <typename Row>
  static constexpr std::size_t indexOf() noexcept {
    std::size_t index = 0;
    static_cast<void>(((std::is_same_v<Row, Rows> || (++index, false)) || ...));
    return index;
  }
  // The table with ids of this type.
  template <typename Id>
  static constexpr std::size_t indexOfIds() noexcept {
    std::size_t index = 0;
    static_cast<void>(((std::is_same_v<Added<Rows>, Result<Id>> || (++index, false)) || ...));
    return index;
  }
  // Calls `each` with a Rows of each type, until one returns an error.
  template <typename Each>
  static Result<void> forEach(Each each) {
    Result<void> result;
    static_cast<void>(((result = each(Rows{}), static_cast<bool>(result)) && ...));
    return result;
  }
};
#define SONDE_ROW_TYPE(Row) , model::Row
template <typename None, typename... Rows>
RowTypes<Rows...> rowTypesOf();
using AllRows = decltype(rowTypesOf<void SONDE_ROWS(SONDE_ROW_TYPE)>());
#undef SONDE_ROW_TYPE

template <typename Row>
constexpr bool kHasId = !std::is_same_v<Added<Row>, Result<void>>;

using Ids = std::array<std::int64_t, AllRows::kCount>;

// Enumerations are stored as their words.
template <typename Enum>
requires std::is_enum_v<Enum>
void put(RowBuffer& row, Enum value) {
  row.text(model::word(value));
}

inline void put(RowBuffer& row, model::DataType type) {
  type == model::DataType::Unknown ? row.null() : row.text(model::word(type));
}

inline void put(RowBuffer& row, std::string_view text) {
  isText(text) ? row.text(text) : row.text(toText(text));
}

inline void put(RowBuffer& row, const std::string& text) {
  put(row, std::string_view(text));
}

inline void put(RowBuffer& row, double value) {
  row.real(value);
}

inline void put(RowBuffer& row, std::nullptr_t) {
  row.null();
}

void put(RowBuffer& row, std::integral auto value) {
  row.integer(static_cast<std::int64_t>(value));
}

template <typename Tag>
void put(RowBuffer& row, StrongId<Tag> id) {
  id ? row.integer(id.value) : row.null();
}

template <typename T>
void put(RowBuffer& row, const std::optional<T>& value) {
  value ? put(row, *value) : row.null();
}

inline void put(RowBuffer& row, const model::ArgValue& value) {
  std::visit([&](const auto& held) { put(row, held); }, value);
}

struct TraceWriter::State {
  explicit State(Database trace) noexcept : database(std::move(trace)) {}

  Result<void> prepareAll();
  Result<void> loadIds();
  Result<void> loadStrings();

  // Everything that writes goes through these three: after a failure they do nothing. SQLite may
  // have rolled back by itself then, and what came later would be committed one by one.
  template <typename Row>
  Result<void> insert(const Row& row) {
    if (failure)
      return *failure;
    RowBuffer& stored = statements->inserts[AllRows::indexOf<Row>()];
    std::apply([&](const auto&... values) { (put(stored, values), ...); }, row.columns());
    return noted(stored.endRow());
  }
  Result<void> run(Statement& statement) { return failure ? *failure : noted(statement.run()); }
  template <typename Row>
  Result<void> flush() {
    return failure ? *failure : noted(statements->inserts[AllRows::indexOf<Row>()].flush());
  }
  Result<void> flushAll();

  Result<void> noted(Result<void> done) {
    if (!done && !failure)
      failure = done.error();
    return done;
  }

  template <typename Row>
  Added<Row> add(const Row& row) {
    if constexpr (kHasId<Row>) {
      std::int64_t& next = nextIds[AllRows::indexOf<Row>()];
      Row numbered = row;
      if (!numbered.id)
        numbered.id.value = next;
      SONDE_TRY(insert(numbered));
      next = std::max(next, numbered.id.value + 1);
      return numbered.id;
    } else {
      return insert(row);
    }
  }

  // Replaces the row with the same id.
  template <typename Row>
  Result<void> replace(const Row& row) {
    SONDE_TRY(flush<Row>());
    SONDE_TRY(run(statements->removes[AllRows::indexOf<Row>()]->bindAll(row.id)));
    return insert(row);
  }

  // Destroyed before the connection.
  struct Statements {
    Statement begin;
    Statement commit;
    Statement unfinish;
    Statement dropOpenScope;
    Statement dropOpenCalls;
    Statement moveSlice;
    Statement endCollective;
    Statement planCollective;
    std::vector<RowBuffer> inserts;                 // by table
    std::vector<std::optional<Statement>> removes;  // by table; none of one without ids
  };

  Database database;
  StringIds strings;
  Ids nextIds{};
  Ids idsAtBegin{};
  std::optional<Error> failure;  // the first since begin()
  std::optional<Statements> statements;
};

}  // namespace sonde::store
