#include "analysis/ingest/nsight/nsight_file.h"

#include "analysis/store/schema.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace sonde::ingest {
namespace {

using store::Database;
using store::Statement;

// Every useful export has one of these.
constexpr std::array<std::string_view, 6> kTellTale = {"META_DATA_EXPORT",
                                                       "TARGET_INFO_SESSION_START_TIME",
                                                       "CUPTI_ACTIVITY_KIND_KERNEL",
                                                       "CUPTI_ACTIVITY_KIND_RUNTIME",
                                                       "NVTX_EVENTS",
                                                       "OSRT_API"};

// The database does not trust its own schema: no function from the file runs, and inconsistent
// pages are errors.
constexpr std::string_view kGuards = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON";

constexpr std::string_view kVersionMark = "_V";

// The 2 of "NVTX_EVENTS_V2".
std::optional<int> versionOf(std::string_view table) noexcept {
  const std::size_t mark = table.rfind(kVersionMark);
  if (mark == std::string_view::npos || mark == 0)
    return {};
  const std::string_view digits = table.substr(mark + kVersionMark.size());
  int version = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  const bool isWhole = error == std::errc{} && end == digits.data() + digits.size();
  return isWhole && version > 0 ? std::optional(version) : std::nullopt;
}

}  // namespace

Error NsightFile::damaged(const Error& error) const {
  return {error.code,
          fmt::format("'{}' cannot be read as a database ({}): was it copied whole?",
                      path().string(),
                      error.message)};
}

Result<NsightFile> NsightFile::open(const std::filesystem::path& path) {
  SONDE_TRY_ASSIGN(Database database, Database::open(path, store::Access::Immutable));
  SONDE_TRY(database.exec(kGuards));
  NsightFile file(std::move(database));
  if (const auto read = file.readTables(); !read)
    return file.damaged(read.error());
  SONDE_TRY(file.checkOrigin());
  if (const auto read = file.readVersion(); !read)
    return file.damaged(read.error());
  return file;
}

std::string_view NsightFile::storedName(std::string_view table) const {
  const auto other = storedNames_.find(table);
  return other == storedNames_.end() ? table : other->second;
}

// Uses the latest of several versions of a table; a table without a version takes precedence.
void NsightFile::addVersions(const std::map<std::string, int>& versions) {
  std::map<std::string, int> latest;
  for (const auto& [name, version] : versions) {
    const std::string base = name.substr(0, name.rfind(kVersionMark));
    const bool isTaken = has(base) && latest.find(base) == latest.end();
    if (isTaken || version < latest[base]) {
      tables_.emplace(name, 0);
      continue;
    }
    if (const auto older = storedNames_.find(base); older != storedNames_.end())
      tables_.emplace(older->second, 0);
    latest[base] = version;
    storedNames_[base] = name;
    tables_.emplace(base, 0);
  }
}

// Virtual tables have no root page and are skipped.
Result<void> NsightFile::readTables() {
  SONDE_TRY_ASSIGN(Statement names,
                   database_.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND "
                                     "rootpage > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"));
  std::map<std::string, int> versions;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, names.step());
    if (!more)
      break;
    std::string name(names.text(0));
    if (const auto version = versionOf(name))
      versions.emplace(std::move(name), *version);
    else
      tables_.emplace(std::move(name), 0);
  }
  addVersions(versions);
  return countRows();
}

Result<void> NsightFile::countRows() {
  for (auto& [name, rows] : tables_) {
    SONDE_TRY_ASSIGN(const auto found, columns(name));
    if (found.find("rowid") != found.end())
      continue;
    std::string quoted;
    for (const char c : storedName(name))
      quoted += c == '"' ? std::string(2, c) : std::string(1, c);
    const auto last = database_.queryInteger(fmt::format("SELECT max(rowid) FROM \"{}\"", quoted));
    rows = last ? *last : 0;  // errors show when the table is read
  }
  return {};
}

Result<std::map<std::string, bool>> NsightFile::columns(std::string_view table) const {
  SONDE_TRY_ASSIGN(
      Statement info,
      database_.prepare("SELECT name, pk, type FROM pragma_table_xinfo(?1) WHERE hidden = 0"));
  info.bind(1, storedName(table));
  std::map<std::string, bool> columns;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, info.step());
    if (!more)
      return columns;
    columns.emplace(info.text(0), info.integer(1) != 0 && info.text(2) == "INTEGER");
  }
}

Result<void> NsightFile::checkOrigin() {
  const auto id = database_.queryInteger("PRAGMA application_id");
  if (!id)
    return damaged(id.error());
  if (*id == store::kApplicationId)
    return Error{
        ErrorCode::Unsupported,
        fmt::format("'{}' is a Sonde trace: join traces with 'sonde merge'", path().string())};
  for (const std::string_view table : kTellTale)
    if (has(table))
      return {};
  return Error{ErrorCode::Unsupported,
               fmt::format("'{}' is a database, but not one that 'nsys export --type sqlite' wrote",
                           path().string())};
}

// The version is one text, or several parts.
Result<void> NsightFile::readVersion() {
  if (!has("META_DATA_EXPORT"))
    return {};
  SONDE_TRY_ASSIGN(const auto found, columns("META_DATA_EXPORT"));
  if (found.find("name") == found.end() || found.find("value") == found.end())
    return {};
  SONDE_TRY_ASSIGN(Statement facts,
                   database_.prepare(fmt::format("SELECT name, value FROM \"{}\" WHERE name LIKE "
                                                 "'EXPORT_SCHEMA_VERSION%' ORDER BY rowid LIMIT 16",
                                                 storedName("META_DATA_EXPORT"))));
  std::map<std::string, std::string> values;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, facts.step());
    if (!more)
      break;
    values.emplace(facts.text(0), facts.text(1));
  }
  constexpr const char* kWhole = "EXPORT_SCHEMA_VERSION";
  version_ = values[kWhole];
  if (version_.empty() && !values["EXPORT_SCHEMA_VERSION_MAJOR"].empty())
    version_ = fmt::format("{}.{}.{}",
                           values["EXPORT_SCHEMA_VERSION_MAJOR"],
                           values["EXPORT_SCHEMA_VERSION_MINOR"],
                           values["EXPORT_SCHEMA_VERSION_MICRO"]);
  return {};
}

}  // namespace sonde::ingest
