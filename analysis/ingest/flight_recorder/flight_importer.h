// Imports a dump of PyTorch's NCCL flight recorder (pickle or JSON, versions 2.0 to 2.10) as the
// rows of one process.
//
// Owned by one import, on one thread. Memory: the whole dump; PyTorch's ring has 2,000 entries
// unless it is told otherwise.
#pragma once

#include "analysis/ingest/flight_recorder/flight_entry.h"
#include "analysis/ingest/flight_recorder/flight_groups.h"
#include "analysis/ingest/flight_recorder/python_stacks.h"
#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/import/imported_places.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sonde::ingest {

// Key of the argument of a process that was imported from a dump; the value is its version.
inline constexpr std::string_view kFlightRecorderKey = "sonde.flight_recorder";

// Whether the value is a dump: it has a version and entries or groups.
bool isFlightDump(const Value& value);

class FlightImporter {
 public:
  // `groups`: those of the dumps imported so far. `rank`: from the file's name, if it has one.
  FlightImporter(store::TraceWriter& writer,
                 std::string hostName,
                 JobGroups& groups,
                 model::OptionalInt rank);

  // Call once. Requires: an open transaction; isFlightDump(dump). Corrupt: no entry is readable.
  // Unsupported: another major version.
  Result<ImportedFile> import(const Value& dump, const std::filesystem::path& file);

 private:
  Result<void> checkVersion(const std::string& file);
  void readEntries(const Value& entries);
  void findRank(const Value& dump, const std::filesystem::path& file);
  Result<void> addGroups();
  Result<void> addMembers(const FlightGroup& group, model::CommunicatorId id);
  Result<void> addGroupFacts(const FlightGroup& group, model::CommunicatorId id);
  Result<void> addEntries();
  model::Collective rowOf(const FlightEntry& entry) const;
  Result<void> addSample(const FlightEntry& entry, const ImportedPlaces::Track& track);
  template <typename Id>
  Result<void> addArg(model::Owner owner, Id id, std::string_view key, model::ArgValue value);

  store::TraceWriter& writer_;
  JobGroups& jobGroups_;
  model::OptionalInt rank_;
  ImportedPlaces places_;
  PythonStacks stacks_;
  ImportedFile result_;
  std::string version_;
  std::vector<FlightEntry> entries_;
  std::vector<ImportedPlaces::Track> tracks_;  // of each entry
  FlightGroups groups_;
  std::map<std::string, model::CommunicatorId> ids_;  // by name
};

}  // namespace sonde::ingest
