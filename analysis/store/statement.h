// A prepared SQL statement: bind, step, read columns. Owned by the code that prepared it, used by
// the thread of its Database, and destroyed before it.
//
// Binding never fails by itself: step() reports the first binding that SQLite refused. Parameters
// count from 1, columns from 0, as in SQLite.
#pragma once

#include "base/result.h"
#include "base/strong_id.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3_stmt;

namespace sonde::store {

enum class ColumnType { Integer, Real, Text, Blob, Null };

class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) noexcept : statement_(statement) {}
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  // By type: integers, double (NaN is NULL), text (copied), ids (0 is NULL), optionals (empty is
  // NULL).
  void bind(int parameter, std::integral auto value) noexcept {
    bindInt(parameter, static_cast<std::int64_t>(value));
  }
  void bind(int parameter, double value) noexcept;
  void bind(int parameter, std::string_view value) noexcept;
  void bind(int parameter, std::nullptr_t) noexcept;
  template <typename Tag>
  void bind(int parameter, StrongId<Tag> id) noexcept {
    id ? bind(parameter, id.value) : bind(parameter, nullptr);
  }
  template <typename T>
  void bind(int parameter, const std::optional<T>& value) noexcept {
    value ? bind(parameter, *value) : bind(parameter, nullptr);
  }
  void bindBlob(int parameter, std::string_view value) noexcept;  // copied
  // Binds parameters 1, 2, ….
  template <typename... Values>
  Statement& bindAll(const Values&... values) noexcept {
    int parameter = 0;
    (bind(++parameter, values), ...);
    return *this;
  }

  // Advances; true if there is a row to read. After false or an error the statement is reset and
  // may be used again; bindings stay.
  Result<bool> step();
  // Steps to the end; ignores rows.
  Result<void> run();
  // Returns to before the first row. Bindings stay.
  void reset() noexcept;

  int parameterCount() const noexcept;
  // Without the character before it; empty: it has none.
  std::string parameterName(int parameter) const;

  int columnCount() const noexcept;
  std::string columnName(int column) const;
  ColumnType columnType(int column) const noexcept;
  bool isNull(int column) const noexcept { return columnType(column) == ColumnType::Null; }
  // NULL reads as 0, 0.0 and the empty text. Views are valid until the next step() or reset().
  std::int64_t integer(int column) const noexcept;
  double real(int column) const noexcept;
  std::string_view text(int column) const noexcept;
  std::optional<std::int64_t> optionalInteger(int column) const noexcept;
  std::optional<double> optionalReal(int column) const noexcept;
  template <typename Id>
  Id id(int column) const noexcept {
    return Id{integer(column)};
  }

  // Whether running it does not change the database.
  bool readOnly() const noexcept;
  std::string sql() const;

 private:
  void bindInt(int parameter, std::int64_t value) noexcept;
  void note(int code) noexcept;

  sqlite3_stmt* statement_;
  int bindError_ = 0;
};

}  // namespace sonde::store
