#include "analysis/store/statement.h"

#include "analysis/store/sqlite_error.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cmath>
#include <utility>

namespace sonde::store {
Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)), bindError_(other.bindError_) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  std::swap(bindError_, other.bindError_);
  return *this;
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

void Statement::note(int code) noexcept {
  if (code != SQLITE_OK && bindError_ == SQLITE_OK)
    bindError_ = code;
}

void Statement::bind(int parameter, std::nullptr_t) noexcept {
  note(sqlite3_bind_null(statement_, parameter));
}

void Statement::bind(int parameter, std::string_view value) noexcept {
  const char* bytes = value.data() == nullptr ? "" : value.data();  // a null pointer would be NULL
  note(sqlite3_bind_text64(
      statement_, parameter, bytes, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bindBlob(int parameter, std::string_view value) noexcept {
  const char* bytes = value.data() == nullptr ? "" : value.data();
  note(sqlite3_bind_blob64(statement_, parameter, bytes, value.size(), SQLITE_TRANSIENT));
}

void Statement::bind(int parameter, double value) noexcept {
  note(sqlite3_bind_double(statement_, parameter, value));
}

void Statement::bindInt(int parameter, std::int64_t value) noexcept {
  note(sqlite3_bind_int64(statement_, parameter, value));
}

Result<bool> Statement::step() {
  const int bindError = std::exchange(bindError_, SQLITE_OK);
  if (bindError != SQLITE_OK)
    return Error{errorCodeOf(bindError),
                 fmt::format("cannot bind a value to '{}': {}", sql(), sqlite3_errstr(bindError))};
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW)
    return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_);
    return false;
  }
  Error error = errorOf(sqlite3_db_handle(statement_), code);
  error.message = fmt::format("'{}' failed: {}", sql(), error.message);
  sqlite3_reset(statement_);
  return error;
}

Result<void> Statement::run() {
  for (;;) {
    SONDE_TRY_ASSIGN(const bool row, step());
    if (!row)
      return {};
  }
}

void Statement::reset() noexcept {
  sqlite3_reset(statement_);
}

int Statement::parameterCount() const noexcept {
  return sqlite3_bind_parameter_count(statement_);
}

std::string Statement::parameterName(int parameter) const {
  const char* const name = sqlite3_bind_parameter_name(statement_, parameter);
  return name == nullptr ? std::string() : std::string(name + 1);
}

int Statement::columnCount() const noexcept {
  return sqlite3_column_count(statement_);
}

std::string Statement::columnName(int column) const {
  const char* name = sqlite3_column_name(statement_, column);
  return name == nullptr ? "" : name;
}

ColumnType Statement::columnType(int column) const noexcept {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER:
      return ColumnType::Integer;
    case SQLITE_FLOAT:
      return ColumnType::Real;
    case SQLITE_TEXT:
      return ColumnType::Text;
    case SQLITE_BLOB:
      return ColumnType::Blob;
    default:
      return ColumnType::Null;
  }
}

std::int64_t Statement::integer(int column) const noexcept {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const noexcept {
  return sqlite3_column_double(statement_, column);
}

std::string_view Statement::text(int column) const noexcept {
  const void* bytes = columnType(column) == ColumnType::Blob
                          ? sqlite3_column_blob(statement_, column)
                          : sqlite3_column_text(statement_, column);
  if (bytes == nullptr)
    return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::optional<std::int64_t> Statement::optionalInteger(int column) const noexcept {
  return isNull(column) ? std::nullopt : std::optional(integer(column));
}

std::optional<double> Statement::optionalReal(int column) const noexcept {
  return isNull(column) ? std::nullopt : std::optional(real(column));
}

bool Statement::readOnly() const noexcept {
  return sqlite3_stmt_readonly(statement_) != 0;
}

std::string Statement::sql() const {
  const char* text = sqlite3_sql(statement_);
  return text == nullptr ? "" : text;
}

}  // namespace sonde::store
