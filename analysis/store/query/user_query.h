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
};

// Calls `each` with the statement at each row; stops at its first error. Whatever is no reading of
// tables and views is refused: ATTACH, pragmas, transactions, extensions. Texts and blobs beyond 16
// MB are refused, too.
//
// InvalidArgument: the statement is wrong, is no SELECT, or has a parameter without a value.
// Busy: it took longer than the limit.
Result<void> runUserQuery(const Database& trace,
                          const UserQuery& query,
                          const std::function<Result<void>(const Statement&)>& each);

// The same checks against an empty trace, without running it.
Result<void> checkUserQuery(const UserQuery& query);

}  // namespace sonde::store
