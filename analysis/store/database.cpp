#include "analysis/store/database.h"

#include "analysis/store/btrfs.h"
#include "analysis/store/sqlite_error.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cctype>
#include <utility>

namespace sonde::store {
namespace {

// How long a statement waits for another connection's lock: a checkpoint of a large log takes about
// a second.
constexpr int kBusyMs = 10'000;

constexpr char kStopped[] = "interrupted";  // as SQLite says it

int flagsOf(Access access) noexcept {
  switch (access) {
    case Access::ReadOnly:
    case Access::Immutable:
      return SQLITE_OPEN_READONLY;
    case Access::ReadWrite:
      return SQLITE_OPEN_READWRITE;
    case Access::Create:
      break;
  }
  return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
}

// `path` as a file: URI; escapes all characters that could act as options.
std::string uriOf(const std::filesystem::path& path, Access access) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        std::isalnum(byte) != 0 || c == '/' || c == '-' || c == '_' || c == '.' || c == '~';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", byte);
  }
  return access == Access::Immutable ? uri + "?immutable=1" : uri;
}

Result<sqlite3*> openHandle(const std::string& name, int flags, const char* system = nullptr) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, system);
  if (code != SQLITE_OK) {
    Error error =
        handle == nullptr ? Error{errorCodeOf(code), sqlite3_errstr(code)} : errorOf(handle, code);
    sqlite3_close_v2(handle);
    return error;
  }
  sqlite3_busy_timeout(handle, kBusyMs);
  sqlite3_extended_result_codes(handle, 1);
  return handle;
}

// The place of an error in the text; SQLite does not always know it.
std::string placeText(int offset) {
  return offset < 0 ? "" : fmt::format(" at character {}", offset + 1);
}

// SQLite has no result code for it.
bool lacksSchema(std::string_view message) {
  return message.starts_with("no such table: ") || message.starts_with("no such column: ");
}

int callStopCheck(void* isToStop) {
  return (*static_cast<const StopCheck*>(isToStop))() ? 1 : 0;
}

// Whether SQL text contains no statement: it is blank or a comment.
bool isEmpty(sqlite3* handle, std::string_view sql) noexcept {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  sqlite3_finalize(statement);
  return code == SQLITE_OK && statement == nullptr;
}

}  // namespace

Result<Database> Database::open(const std::filesystem::path& path, Access access) {
  // On btrfs a full disk would kill the process that writes to the log's mapped index. There the
  // index stays in memory, and other processes have to wait.
  const bool writes = access == Access::ReadWrite || access == Access::Create;
  const bool alone = writes && isOnBtrfs(std::filesystem::absolute(path).parent_path());
  auto handle = openHandle(uriOf(path, access), flagsOf(access), alone ? "unix-excl" : nullptr);
  if (!handle)
    return Error{handle.error().code,
                 fmt::format("cannot open '{}': {}", path.string(), handle.error().message)};
  return Database(*handle, path);
}

Result<Database> Database::inMemory() {
  SONDE_TRY_ASSIGN(sqlite3* const handle, openHandle(":memory:", flagsOf(Access::Create)));
  return Database(handle, ":memory:");
}

Database::Database(sqlite3* handle, std::filesystem::path path) noexcept
    : handle_(handle), path_(std::move(path)) {}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      path_(std::move(other.path_)),
      isToStop_(std::move(other.isToStop_)) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  std::swap(isToStop_, other.isToStop_);
  return *this;
}

Database::~Database() {
  sqlite3_close_v2(handle_);
}

Result<void> Database::exec(std::string_view sql) {
  const std::string text(sql);
  const int code = sqlite3_exec(handle_, text.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK)
    return {};
  return failure(code, text.substr(0, 200), Author::Sonde);
}

// Shows the statement if it is at fault. For a damaged file, the function that opened it adds the
// name and the remedy.
Error Database::failure(int code, std::string_view sql, Author author) const {
  Error error = errorOf(handle_, code);
  if (author == Author::Sonde && lacksSchema(error.message))
    return {
        ErrorCode::Corrupt,
        fmt::format(
            "'{}' is damaged ({}): copy it again or record again", path_.string(), error.message)};
  if (error.code == ErrorCode::InvalidArgument)
    error.message =
        fmt::format("'{}': {}{}", sql, error.message, placeText(sqlite3_error_offset(handle_)));
  else if (error.code != ErrorCode::Corrupt)
    error.message = fmt::format("'{}': {}", path_.string(), error.message);
  return error;
}

Result<Statement> Database::prepare(std::string_view sql, Author author) const {
  if (isToStop_ != nullptr && (*isToStop_)())
    return Error{ErrorCode::Io, fmt::format("'{}': {}", path_.string(), kStopped)};
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  const int code = sqlite3_prepare_v3(handle_,
                                      sql.data(),
                                      static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT,
                                      &statement,
                                      &tail);
  if (code != SQLITE_OK)
    return failure(code, sql, author);
  Statement prepared(statement);
  if (statement == nullptr)
    return Error{ErrorCode::InvalidArgument, "no SQL statement given"};
  if (!isEmpty(handle_, sql.substr(static_cast<std::size_t>(tail - sql.data()))))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is more than one SQL statement: give one", sql)};
  return prepared;
}

Result<std::int64_t> Database::queryInteger(std::string_view sql) const {
  SONDE_TRY_ASSIGN(Statement statement, prepare(sql));
  SONDE_TRY_ASSIGN(const bool row, statement.step());
  if (!row)
    return Error{ErrorCode::NotFound, fmt::format("'{}' has no row", sql)};
  return statement.integer(0);
}

Result<std::string> Database::queryText(std::string_view sql) const {
  SONDE_TRY_ASSIGN(Statement statement, prepare(sql));
  SONDE_TRY_ASSIGN(const bool row, statement.step());
  if (!row)
    return Error{ErrorCode::NotFound, fmt::format("'{}' has no row", sql)};
  return std::string(statement.text(0));
}

std::int64_t Database::lastInsertId() const noexcept {
  return sqlite3_last_insert_rowid(handle_);
}

std::int64_t Database::changes() const noexcept {
  return sqlite3_changes64(handle_);
}

bool Database::inTransaction() const noexcept {
  return handle_ != nullptr && sqlite3_get_autocommit(handle_) == 0;
}

std::shared_ptr<RowMemo> Database::remember() const {
  std::shared_ptr<RowMemo> memo = memo_.lock();
  if (!memo) {
    memo = std::make_shared<RowMemo>();
    memo_ = memo;
  }
  return memo;
}

void Database::stopWhen(StopCheck isToStop, int instructions) const {
  sqlite3_progress_handler(handle_, 0, nullptr, nullptr);
  isToStop_.reset();
  if (!isToStop)
    return;
  isToStop_ = std::make_unique<StopCheck>(std::move(isToStop));
  sqlite3_progress_handler(handle_, instructions, callStopCheck, isToStop_.get());
}

Result<Transaction> Transaction::begin(Database& database) {
  SONDE_TRY(database.exec("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  if (database_ != nullptr && database_->inTransaction())
    (void)database_->exec("ROLLBACK");
}

Result<void> Transaction::commit() {
  SONDE_TRY(database_->exec("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace sonde::store
