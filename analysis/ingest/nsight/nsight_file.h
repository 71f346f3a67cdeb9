// Opens an SQLite file that Nsight Systems exported (`nsys export --type sqlite`) for reading.
//
// Nsight Systems' user guide describes the schema ("SQLite Schema Reference"). Tables and columns
// differ between versions, and a table exists only if it has rows. A table with a version in its
// name ("NVTX_EVENTS_V2") is found without it if there is no such table. Views, virtual tables and
// computed columns are ignored, because reading them could run code from the file. Owned by one
// importer, on one thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace sonde::ingest {

class NsightFile {
 public:
  // Corrupt: not a database, damaged, or cut short. Unsupported: a trace of Sonde, or another
  // program's database.
  static Result<NsightFile> open(const std::filesystem::path& path);

  bool has(std::string_view table) const { return tables_.find(table) != tables_.end(); }
  // All tables, with the highest row number of each.
  const std::map<std::string, std::int64_t, std::less<>>& tables() const noexcept {
    return tables_;
  }
  // The name in the file, with its version. Requires: has(table).
  std::string_view storedName(std::string_view table) const;
  // The stored columns of a table. Requires: has(table).
  Result<std::map<std::string, bool>> columns(std::string_view table) const;
  // "3.16.1"; empty: unknown.
  const std::string& version() const noexcept { return version_; }

  const store::Database& database() const noexcept { return database_; }
  const std::filesystem::path& path() const noexcept { return database_.path(); }
  // Converts an error of SQLite to one that names the file.
  Error damaged(const Error& error) const;

 private:
  explicit NsightFile(store::Database database) : database_(std::move(database)) {}

  Result<void> readTables();
  Result<void> countRows();
  void addVersions(const std::map<std::string, int>& versions);
  Result<void> checkOrigin();
  Result<void> readVersion();

  store::Database database_;
  std::map<std::string, std::int64_t, std::less<>> tables_;
  std::map<std::string, std::string, std::less<>> storedNames_;  // those that differ
  std::string version_;
};

}  // namespace sonde::ingest
