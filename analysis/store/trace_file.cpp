#include "analysis/store/trace_file.h"

#include "analysis/model/times.h"
#include "analysis/store/schema.h"
#include "analysis/store/trace_name.h"
#include "generated/version.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

namespace sonde::store {
namespace {

namespace fs = std::filesystem;

// The first bytes of an SQLite file ("Database File Format", section 1.3).
constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kPageSizeAt = 16;
constexpr std::size_t kChangeCounterAt = 24;
constexpr std::size_t kPageCountAt = 28;
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;
constexpr std::size_t kVersionValidForAt = 92;

// Rows are written in order and read by ranges; see "Ingest" in docs/performance.md.
constexpr int kPageBytes = 8192;

struct Header {
  std::array<unsigned char, kHeaderBytes> bytes{};
  std::uint64_t fileBytes = 0;

  std::uint32_t word(std::size_t at) const noexcept {
    return static_cast<std::uint32_t>(bytes[at]) << 24U |
           static_cast<std::uint32_t>(bytes[at + 1]) << 16U |
           static_cast<std::uint32_t>(bytes[at + 2]) << 8U |
           static_cast<std::uint32_t>(bytes[at + 3]);
  }
  std::uint64_t pageBytes() const noexcept {
    const std::uint64_t stored = word(kPageSizeAt) >> 16U;
    return stored == 1 ? 65536 : stored;
  }
  // The least size of the file; 0 if the header does not have it.
  std::uint64_t promisedBytes() const noexcept {
    return word(kChangeCounterAt) == word(kVersionValidForAt) ? word(kPageCountAt) * pageBytes()
                                                              : 0;
  }
};

fs::path logOf(const fs::path& path) {
  return path.string() + "-wal";
}

bool isFilled(const fs::path& path) {
  std::error_code failure;
  const auto bytes = fs::file_size(path, failure);
  return !failure && bytes > 0;
}

bool hasLog(const fs::path& path) {
  return isFilled(logOf(path));
}

// The finaliser's rollback journal: it runs, or was killed and its changes must be undone.
bool hasJournal(const fs::path& path) {
  return isFilled(path.string() + "-journal");
}

// Whether the file's header is valid by itself: no file beside it changes its content.
bool standsAlone(const fs::path& path) {
  return !hasLog(path) && !hasJournal(path);
}

Error missing(const fs::path& path) {
  std::error_code ignored;
  const fs::path part = partOf(path);
  if (fs::exists(part, ignored))
    return {
        ErrorCode::NotFound,
        fmt::format("'{}' is not finished: finish it with 'sonde recover', or read '{}' as it is",
                    path.string(),
                    part.string())};
  return {ErrorCode::NotFound, fmt::format("'{}' does not exist: check the name", path.string())};
}

Result<Header> readHeader(const fs::path& path) {
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (status.type() == fs::file_type::not_found)
    return missing(path);
  if (problem)
    return Error{
        ErrorCode::Io,
        fmt::format(
            "cannot access '{}' ({}): check its permissions", path.string(), problem.message())};
  if (fs::is_directory(status))
    return Error{ErrorCode::Corrupt,
                 fmt::format("'{}' is a folder: name the trace files in it", path.string())};
  // Opening a pipe would wait for its writer.
  if (!fs::is_regular_file(status))
    return Error{
        ErrorCode::Corrupt,
        fmt::format("'{}' is not a regular file: give the trace file itself", path.string())};
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error{ErrorCode::Io,
                 fmt::format("cannot read '{}' ({}): check its permissions",
                             path.string(),
                             std::generic_category().message(errno))};
  Header header;
  file.read(reinterpret_cast<char*>(header.bytes.data()), kHeaderBytes);
  header.fileBytes = fs::file_size(path, problem);
  if (header.fileBytes == 0 && !hasLog(path))
    return Error{
        ErrorCode::Corrupt,
        fmt::format("'{}' is empty: its recording never began or was interrupted; record again",
                    path.string())};
  return header;
}

Result<void> checkHeader(const fs::path& path, const Header& header) {
  const bool isSqlite = header.fileBytes >= kHeaderBytes &&
                        std::memcmp(header.bytes.data(), kMagic.data(), kMagic.size()) == 0;
  if (!isSqlite)
    return Error{
        ErrorCode::Corrupt,
        fmt::format("'{}' is not a Sonde trace (no SQLite database): give a file that sonde "
                    "run, merge, trim or import wrote",
                    path.string())};
  if (header.word(kApplicationIdAt) != kApplicationId)
    return Error{ErrorCode::Corrupt,
                 fmt::format("'{}' is an SQLite database but not a Sonde trace: give a file that "
                             "sonde run, merge, trim or import wrote",
                             path.string())};
  if (header.promisedBytes() > header.fileBytes)
    return Error{ErrorCode::Corrupt,
                 fmt::format("'{}' is truncated ({} of {} bytes): copy it again or record again",
                             path.string(),
                             header.fileBytes,
                             header.promisedBytes())};
  return {};
}

Error tooNew(const Database& trace, std::int64_t version) {
  const auto writer = trace.queryText("SELECT value FROM meta WHERE key = 'sonde_version'");
  return Error{
      ErrorCode::Unsupported,
      fmt::format("'{}' has schema {}, this Sonde {} reads up to {}: use Sonde {} or newer",
                  trace.path().string(),
                  version,
                  kVersion,
                  kSchemaVersion,
                  writer ? *writer : "of the machine that recorded it")};
}

// A trace of an earlier version lacks these later tables; readers cope without them.
constexpr std::string_view kAddedTables[] = {"storing", "open_call"};

Result<void> checkTables(const Database& trace) {
  SONDE_TRY_ASSIGN(Statement named,
                   trace.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"));
  constexpr std::string_view kCreate = "CREATE TABLE ";
  const std::string_view sql = tablesSql();
  for (std::size_t at = sql.find(kCreate); at != std::string_view::npos;
       at = sql.find(kCreate, at)) {
    at += kCreate.size();
    const std::string_view name = sql.substr(at, sql.find('(', at) - at);
    if (std::find(std::begin(kAddedTables), std::end(kAddedTables), name) != std::end(kAddedTables))
      continue;
    named.reset();
    SONDE_TRY_ASSIGN(const bool isThere, named.bindAll(name).step());
    if (!isThere)
      return Error{ErrorCode::Corrupt, fmt::format("no such table: {}", name)};
  }
  return {};
}

Result<void> checkSchema(const Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t application, trace.queryInteger("PRAGMA application_id"));
  if (application != kApplicationId)
    return Error{
        ErrorCode::Corrupt,
        fmt::format(
            "'{}' is not a Sonde trace: its recording may have been interrupted before it began",
            trace.path().string())};
  SONDE_TRY_ASSIGN(const std::int64_t version, trace.queryInteger("PRAGMA user_version"));
  if (version > kSchemaVersion)
    return tooNew(trace, version);
  SONDE_TRY(trace.queryInteger("SELECT count(*) FROM meta"));
  return checkTables(trace);
}

// Checks that all lines of a finished trace have valid times, so that readers may subtract any two.
Result<void> checkTimes(const Database& trace) {
  SONDE_TRY_ASSIGN(Statement span, trace.prepare("SELECT min(start_ns), max(end_ns) FROM line"));
  SONDE_TRY(span.step());
  if (span.isNull(0) || (model::isTime(span.integer(0)) && model::isTime(span.integer(1))))
    return {};
  return Error{ErrorCode::Corrupt,
               fmt::format("'{}' is damaged (it has events from {} to {} ns, which are not valid "
                           "times): record or import it again",
                           trace.path().string(),
                           span.integer(0),
                           span.integer(1))};
}

// Read-only; also works if SQLite cannot create the files for sharing a log.
Result<Database> openReadOnly(const fs::path& path) {
  SONDE_TRY_ASSIGN(Database trace, Database::open(path, Access::ReadOnly));
  const auto probe = trace.queryInteger("PRAGMA schema_version");
  const bool unshared =
      !probe && (probe.error().code == ErrorCode::Io || probe.error().code == ErrorCode::NoSpace);
  if (!unshared)
    return trace;
  if (hasJournal(path))
    return Error{ErrorCode::Io,
                 fmt::format("'{}' was being finished when its recorder was killed: run 'sonde "
                             "recover' to complete it",
                             path.string())};
  if (hasLog(path))
    return Error{ErrorCode::Io,
                 fmt::format("'{}' is an unfinished recording in a read-only folder: copy it, "
                             "together with '{}', to a writable folder",
                             path.string(),
                             logOf(path).string())};
  return Database::open(path, Access::Immutable);
}

// All errors of SQLite itself mean a damaged file.
Error damaged(const fs::path& path, const Error& error) {
  if (error.code != ErrorCode::Corrupt && error.code != ErrorCode::InvalidArgument)
    return error;
  if (error.message.starts_with(fmt::format("'{}'", path.string())))
    return error;
  return Error{
      ErrorCode::Corrupt,
      fmt::format(
          "'{}' is damaged ({}): copy it again or record again", path.string(), error.message)};
}

Result<void> configureForWriting(Database& trace, WriteMode mode) {
  constexpr const char* kCommon =
      "PRAGMA cache_size = -16000; PRAGMA ignore_check_constraints = ON;";
  if (mode == WriteMode::NoLog)
    return trace.exec(std::string(kCommon) +
                      "PRAGMA journal_mode = OFF;"
                      // The finaliser syncs the file before it is renamed.
                      "PRAGMA synchronous = OFF;");
  return trace.exec(std::string(kCommon) +
                    // A new file has nothing to lose while its journal is set up, and the job to
                    // record waits for that.
                    "PRAGMA synchronous = OFF;"
                    "PRAGMA journal_mode = WAL;"
                    // fsync at checkpoints only: SIGKILL loses nothing committed; a power cut loses
                    // the last commits but not the file.
                    "PRAGMA synchronous = NORMAL;"
                    "PRAGMA wal_autocheckpoint = 4000;");
}

Result<void> writeSchema(Database& trace) {
  SONDE_TRY_ASSIGN(Transaction transaction, Transaction::begin(trace));
  SONDE_TRY(trace.exec(tablesSql()));
  SONDE_TRY(trace.exec(viewsSql()));
  SONDE_TRY(trace.exec(fmt::format(
      "PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, kSchemaVersion)));
  SONDE_TRY_ASSIGN(Statement meta, trace.prepare("INSERT INTO meta(key, value) VALUES (?, ?)"));
  const std::time_t now = std::time(nullptr);
  const std::pair<std::string, std::string> facts[] = {
      {"schema_version", std::to_string(kSchemaVersion)},
      {"sonde_version", kVersion},
      {"created", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))},
      {"job", ""}};
  for (const auto& [key, value] : facts)
    SONDE_TRY(meta.bindAll(std::string_view(key), std::string_view(value)).run());
  return transaction.commit();
}

Result<Database> openForWriting(const fs::path& path, WriteMode mode) {
  SONDE_TRY_ASSIGN(Database trace, Database::open(path, Access::Create));
  SONDE_TRY(trace.exec(fmt::format("PRAGMA page_size = {}", kPageBytes)));
  SONDE_TRY(configureForWriting(trace, mode));
  return trace;
}

}  // namespace

Result<Database> createTrace(const fs::path& path, WriteMode mode) {
  std::error_code ignored;
  const bool claimed = fs::is_regular_file(fs::symlink_status(path, ignored)) && !isFilled(path);
  if (!claimed && fs::exists(fs::symlink_status(path, ignored)))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' exists: choose another name or remove it", path.string())};
  SONDE_TRY_ASSIGN(Database trace, openForWriting(path, mode));
  SONDE_TRY(writeSchema(trace));
  return trace;
}

Result<Database> reopenTrace(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    return Error{ErrorCode::NotFound,
                 fmt::format("'{}' is not a file: check the name", path.string())};
  if (fs::file_size(path, ignored) > 0 && standsAlone(path)) {
    SONDE_TRY_ASSIGN(const Header header, readHeader(path));
    if (header.word(kUserVersionAt) != 0)  // 0: created, but killed before it had a schema
      SONDE_TRY(checkHeader(path, header));
  }
  SONDE_TRY_ASSIGN(Database trace, openForWriting(path, WriteMode::Log));
  SONDE_TRY_ASSIGN(const std::int64_t tables,
                   trace.queryInteger("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) {
    SONDE_TRY(writeSchema(trace));
    return trace;
  }
  if (auto fine = checkSchema(trace); !fine)
    return damaged(path, fine.error());
  return trace;
}

Result<Database> openTrace(const fs::path& path) {
  SONDE_TRY_ASSIGN(const Header header, readHeader(path));
  if (standsAlone(path))
    SONDE_TRY(checkHeader(path, header));
  auto trace = openReadOnly(path);
  if (!trace)
    return damaged(path, trace.error());
  if (auto fine = checkSchema(*trace); !fine)
    return damaged(path, fine.error());
  if (auto fine = checkTimes(*trace); !fine)
    return damaged(path, fine.error());
  return trace;
}

Result<bool> isFinished(const Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t count,
                   trace.queryInteger("SELECT count(*) FROM meta WHERE key = 'finished'"));
  return count != 0;
}

}  // namespace sonde::store
