#include "analysis/store/query/user_query.h"

#include "analysis/store/schema.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <optional>
#include <string_view>

namespace sonde::store {
namespace {

using Clock = std::chrono::steady_clock;

// Instructions of SQLite's machine between two looks at the time. Few, because each may call a
// function that takes a tenth of a second.
constexpr int kLookEvery = 50;
constexpr int kLongestPattern = 1000;  // bytes of a pattern of LIKE and GLOB
constexpr std::string_view kForbidden[] = {"load_extension", "fts3_tokenizer"};

int allowReading(void*, int action, const char*, const char* name, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      for (const std::string_view each : kForbidden)
        if (name != nullptr && each == name)
          return SQLITE_DENY;
      return SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

// While it exists, statements of the connection can only read, and not for longer than the limit.
class Guard {
 public:
  Guard(const Database& database, const UserQuery& query)
      : database_(database),
        handle_(database.handle()),
        outer_(database.stopCheck()),
        until_(Clock::now() + query.limit) {
    sqlite3_set_authorizer(handle_, allowReading, nullptr);
    database_.stopWhen([this] { return isLate() || (outer_ && outer_()); }, kLookEvery);
    largest_ = sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, query.largestValueBytes);
    pattern_ = sqlite3_limit(handle_, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, kLongestPattern);
  }
  ~Guard() {
    sqlite3_limit(handle_, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, pattern_);
    sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, largest_);
    database_.stopWhen(outer_);
    sqlite3_set_authorizer(handle_, nullptr, nullptr);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  bool isLate() const { return Clock::now() >= until_; }
  bool isTooLong() const { return sqlite3_errcode(handle_) == SQLITE_TOOBIG; }

 private:
  const Database& database_;
  sqlite3* handle_;
  StopCheck outer_;
  Clock::time_point until_;
  int largest_ = 0;
  int pattern_ = 0;
};

Result<void> bindAll(Statement& statement, const UserQuery& query) {
  for (int i = 1; i <= statement.parameterCount(); ++i) {
    const std::string name = statement.parameterName(i);
    const auto value = query.parameters.find(name);
    if (value == query.parameters.end())
      return Error{ErrorCode::InvalidArgument,
                   name.empty() ? std::string("the statement has a parameter without a name")
                                : fmt::format("the statement uses :{}, which has no value", name)};
    std::visit(
        [&](const auto& each) {
          if constexpr (std::is_same_v<std::decay_t<decltype(each)>, std::string>)
            statement.bind(i, std::string_view(each));
          else
            statement.bind(i, each);
        },
        value->second);
  }
  return {};
}

Result<Statement> prepareReading(const Database& trace, const UserQuery& query) {
  SONDE_TRY_ASSIGN(Statement statement, trace.prepare(query.sql, Author::User));
  if (!statement.readOnly() || statement.columnCount() == 0)
    return Error{ErrorCode::InvalidArgument, "the statement has no rows: give a SELECT"};
  SONDE_TRY(bindAll(statement, query));
  return statement;
}

}  // namespace

Result<void> runUserQuery(const Database& trace,
                          const UserQuery& query,
                          const std::function<Result<void>(const Statement&)>& each) {
  const Guard guard(trace, query);
  SONDE_TRY_ASSIGN(Statement statement, prepareReading(trace, query));
  for (;;) {
    const Result<bool> row = statement.step();
    if (guard.isLate())
      return Error{ErrorCode::Busy,
                   fmt::format("the statement took longer than {:g} s",
                               std::chrono::duration<double>(query.limit).count())};
    if (!row && guard.isTooLong())
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("a text, blob or row is longer than the {} bytes that statements of "
                               "rules may use: shorten it, for example by substr()",
                               query.largestValueBytes)};
    if (!row)
      return row.error();
    if (!*row)
      return {};
    SONDE_TRY(each(statement));
  }
}

Result<void> checkUserQuery(const UserQuery& query) {
  SONDE_TRY_ASSIGN(Database empty, Database::inMemory());
  SONDE_TRY(empty.exec(tablesSql()));
  SONDE_TRY(empty.exec(viewsSql()));
  const Guard guard(empty, query);
  const auto statement = prepareReading(empty, query);
  return statement ? Result<void>() : statement.error();
}

}  // namespace sonde::store
