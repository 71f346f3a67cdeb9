// A connection to an SQLite database. Owned by one thread at a time (it may move between threads).
// Its statements must be destroyed first.
#pragma once

#include "analysis/store/row_memo.h"
#include "analysis/store/statement.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace sonde::store {

enum class Access {
  ReadOnly,
  Immutable,  // read-only, and no process writes it: no locks, no -wal; also works in a read-only
              // folder
  ReadWrite,
  Create,  // read-write; creates the file if it does not exist
};

// The author of a statement: if statement and file do not match, the user's statement is wrong, or
// the file is damaged.
enum class Author { Sonde, User };

// Whether nobody wants the work on a database any more. Any thread: engines give it to connections
// that they open beside the given one.
using StopCheck = std::function<bool()>;

class Database {
 public:
  // Plain SQLite, without checking that the file is a trace; trace_file.h checks that.
  static Result<Database> open(const std::filesystem::path& path, Access access);
  static Result<Database> inMemory();

  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // Runs one or many statements, ignoring their rows.
  Result<void> exec(std::string_view sql);
  // Compiles exactly one statement; text after it is an InvalidArgument. Corrupt: one of Sonde's
  // own statements uses a missing table or column, so the file is damaged.
  Result<Statement> prepare(std::string_view sql, Author author = Author::Sonde) const;
  // The first column of the first row of `sql`; NotFound when there is no row.
  Result<std::int64_t> queryInteger(std::string_view sql) const;
  Result<std::string> queryText(std::string_view sql) const;

  std::int64_t lastInsertId() const noexcept;
  std::int64_t changes() const noexcept;  // rows changed by the last statement
  bool inTransaction() const noexcept;

  // While somebody holds the result, forEach() and readAll() of whole queries (read_rows.h) keep
  // their rows, up to 1 GiB, and read them once. Requires: nobody changes the database meanwhile.
  std::shared_ptr<RowMemo> remember() const;
  std::shared_ptr<RowMemo> rowMemo() const noexcept { return memo_.lock(); }  // nullptr: none

  // Once `isToStop` returns true, the running statement and later ones fail soon: so whatever reads
  // the database ends at an error. It is called on this thread, after so many instructions of
  // SQLite's machine. Empty: never.
  void stopWhen(StopCheck isToStop, int instructions = 10'000) const;
  StopCheck stopCheck() const { return isToStop_ == nullptr ? StopCheck() : *isToStop_; }
  const std::filesystem::path& path() const noexcept { return path_; }
  sqlite3* handle() const noexcept { return handle_; }  // only for analysis/store

 private:
  Database(sqlite3* handle, std::filesystem::path path) noexcept;
  Error failure(int code, std::string_view sql, Author author) const;

  sqlite3* handle_;
  std::filesystem::path path_;
  mutable std::weak_ptr<RowMemo> memo_;
  mutable std::unique_ptr<StopCheck> isToStop_;  // SQLite has its address; nullptr: none
};

// Rolls back at the end of its scope unless committed. Requires: it does not outlive its database.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  Result<void> commit();

 private:
  explicit Transaction(Database& database) noexcept : database_(&database) {}

  Database* database_;  // nullptr: nothing to roll back
};

}  // namespace sonde::store
