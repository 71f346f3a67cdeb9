// What a TraceWriter keeps: its connection, statements, strings and next ids. Within
// analysis/store; one thread.
#pragma once

#include "analysis/store/row_buffer.h"
#include "analysis/store/table_spec.h"
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
using Ids = std::array<std::int64_t, static_cast<std::size_t>(Table::Count)>;

// A text of ours: known to be proper text.
struct Word {
  std::string_view text;
};

template <typename Enum>
Word wordOf(Enum value) noexcept {
  return Word{model::word(value)};
}

inline std::optional<Word> optionalWord(model::DataType type) noexcept {
  return type == model::DataType::Unknown ? std::nullopt : std::optional(wordOf(type));
}

inline void put(RowBuffer& row, Word word) {
  row.text(word.text);
}

inline void put(RowBuffer& row, std::string_view text) {
  isText(text) ? row.text(text) : row.text(toText(text));
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
  template <typename... Values>
  Result<void> insert(Table table, const Values&... values) {
    if (failure)
      return *failure;
    RowBuffer& row = statements->inserts[static_cast<std::size_t>(table)];
    (put(row, values), ...);
    return noted(row.endRow());
  }
  Result<void> run(Statement& statement) { return failure ? *failure : noted(statement.run()); }
  Result<void> flush(Table table) {
    return failure ? *failure : noted(statements->inserts[static_cast<std::size_t>(table)].flush());
  }
  Result<void> flushAll();

  Result<void> noted(Result<void> done) {
    if (!done && !failure)
      failure = done.error();
    return done;
  }

  // Adds a row with an id: `given`, or the next of the table.
  template <typename Id, typename... Values>
  Result<Id> insertWithId(Table table, Id given, const Values&... values) {
    std::int64_t& next = nextIds[static_cast<std::size_t>(table)];
    const Id id = given ? given : Id{next};
    SONDE_TRY(insert(table, id, values...));
    next = std::max(next, id.value + 1);
    return id;
  }

  // A row of a device's work: its columns begin with those of model::DeviceWork.
  template <typename Id, typename... Values>
  Result<Id> insertWork(Table table,
                        Id given,
                        const model::DeviceWork& work,
                        const Values&... values) {
    return insertWithId(table,
                        given,
                        work.streamId,
                        work.nameId,
                        work.startNs,
                        work.durNs,
                        work.correlationId,
                        work.launchSliceId,
                        work.scopeId,
                        work.launchDelayNs,
                        work.queuedNs,
                        work.submittedNs,
                        work.graphId,
                        work.graphNodeId,
                        work.bytes,
                        values...);
  }

  // Stores `row` in place of the one with its id.
  template <typename Row>
  Result<void> replace(Table table, TraceWriter& writer, const Row& row) {
    SONDE_TRY(flush(table));
    SONDE_TRY(run(statements->removes[static_cast<std::size_t>(table)]->bindAll(row.id)));
    SONDE_TRY(writer.add(row));
    return {};
  }

  // All go before the connection does.
  struct Statements {
    Statement begin;
    Statement commit;
    Statement unfinish;
    Statement dropOpenScope;
    Statement dropOpenCalls;
    Statement moveSlice;
    Statement endCollective;
    Statement planCollective;
    std::vector<RowBuffer> inserts;                 // by Table
    std::vector<std::optional<Statement>> removes;  // by Table; none of one without ids
  };

  Database database;
  StringIds strings;
  Ids nextIds{};
  Ids idsAtBegin{};
  std::optional<Error> failure;  // the first since begin()
  std::optional<Statements> statements;
};

}  // namespace sonde::store
