// Writes databases as `nsys export --type sqlite` does, by the tables and columns of Nsight
// Systems' documented schema, for tests of the import.
#pragma once

#include "analysis/store/database.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace sonde::test {

// The differences between the versions of the schema that tests cover.
struct NsightVersion {
  const char* name;
  bool hasParts;      // the version is written in parts, too
  bool hasNewer;      // columns that came later are there
  bool hasProcesses;  // table PROCESSES is there
};
inline constexpr NsightVersion kNsightVersions[] = {
    {"3.11.0", false, false, false}, {"3.16.1", false, false, true}, {"3.28.1", true, true, true}};

class NsightExport {
 public:
  static constexpr std::int64_t kEpochNs = 1'700'000'000'000'000'007;
  static constexpr std::int64_t kPid = 4242;
  static constexpr std::int64_t kGlobalPid = (1LL << 56) | (kPid << 24);
  static constexpr std::int64_t kGlobalTid = kGlobalPid | 4243;

  explicit NsightExport(const std::filesystem::path& path,
                        const NsightVersion& version = kNsightVersions[1]);

  // Runs SQL; $TID and $PID stand for the global ids.
  NsightExport& run(std::string sql);
  // An id of StringIds for this text.
  std::int64_t string(std::string_view text);
  // Two steps of a training run on one thread and one stream: ranges, calls, kernels, copies, a
  // synchronisation, and Nsight's facts about the machine.
  NsightExport& fill();

 private:
  void createTables(const NsightVersion& version);

  store::Database database_;
  std::int64_t strings_ = 0;
  bool hasProcesses_;
};

}  // namespace sonde::test
