// Runs a SELECT that a user wrote. It can only read, and ends after a time. Free functions; the
// database's thread.
#pragma once

#include "analysis/store/database.h"
#include "analysis/store/statement.h"
#include "base/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>

namespace sonde::store {

struct UserQuery {
  std::string sql;
  // By name, without the ':' that the statement writes before it.
  std::map<std::string, std::variant<std::int64_t, double, std::string>> parameters;
  std::chrono::milliseconds limit{10'000};
  // The longest text or blob, and row of a table, in bytes. SQLite looks at the time only between
  // its instructions, and one call of instr() or replace() takes time by the square of its lengths.
  int largestValueBytes = 64 * 1024;
};

// Calls `each` with the statement at each row; stops at its first error. Whatever is no reading of
// tables and views is refused: ATTACH, pragmas, transactions, extensions.
//
// InvalidArgument: the statement is wrong, is no SELECT, has a parameter without a value, or makes
// or reads a value that is too long. Busy: it took longer than the limit.
Result<void> runUserQuery(const Database& trace,
                          const UserQuery& query,
                          const std::function<Result<void>(const Statement&)>& each);

// The same checks against an empty trace, without running it.
Result<void> checkUserQuery(const UserQuery& query);

}  // namespace sonde::store
