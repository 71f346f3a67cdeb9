// An SQLite file that Nsight Systems exported (`nsys export --type sqlite`), opened to be read.
//
// Its schema is described in Nsight Systems' user guide, "SQLite Schema Reference"; tables and
// columns come and go with its version, and a table is there only when it has rows. A table whose
// name has a version ("NVTX_EVENTS_V2") is the one without, where that is not there. Whatever else
// the file holds (views, virtual tables, columns that are computed) is not looked at, because
// reading it could run code of the file's. Owned by one importer, on one thread.
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
  // Corrupt: it is no database, or damaged, or cut short. Unsupported: a trace of Sonde's own, or
  // another program's database.
  static Result<NsightFile> open(const std::filesystem::path& path);

  bool has(std::string_view table) const { return tables_.find(table) != tables_.end(); }
  // All tables, with the highest row number of each.
  const std::map<std::string, std::int64_t, std::less<>>& tables() const noexcept {
    return tables_;
  }
  // As the file calls it: with its version. Requires: has(table).
  std::string_view storedName(std::string_view table) const;
  // The columns of a table that are stored. Requires: has(table).
  Result<std::map<std::string, bool>> columns(std::string_view table) const;  // value: is the key
  // "3.16.1"; empty: the file does not say.
  const std::string& version() const noexcept { return version_; }

  const store::Database& database() const noexcept { return database_; }
  const std::filesystem::path& path() const noexcept { return database_.path(); }
  // That SQLite found wrong, as an error that names the file.
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
  std::map<std::string, std::string, std::less<>> storedNames_;  // that differ
  std::string version_;
};

}  // namespace sonde::ingest
