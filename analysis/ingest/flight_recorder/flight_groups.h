// The groups of ranks in a dump of PyTorch's NCCL flight recorder. One importer, one thread;
// JobGroups lives for the whole import.
#pragma once

#include "analysis/ingest/flight_recorder/flight_entry.h"
#include "analysis/ingest/pickle/value_tree.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sonde::ingest {

struct FlightGroup {
  std::string name;
  std::string description;
  std::vector<std::int64_t> ranks;  // by position; empty: unknown
  // Numbers of this rank's calls in the group. They count sends and receives too if `hasMessages`.
  std::optional<std::int64_t> lastEnqueued;
  std::optional<std::int64_t> lastCompleted;
  std::optional<std::int64_t> firstSeq;  // the oldest collective that the dump has
  bool hasMessages = false;              // sends or receives

  bool isDefault() const noexcept { return description == "default_pg"; }
};

// By name. `pg_config` is keyed by name, `pg_status` by local id: the entries have both.
using FlightGroups = std::map<std::string, FlightGroup>;
FlightGroups flightGroupsOf(const Value& dump, const std::vector<FlightEntry>& entries);

// The rank that is in all groups; unset: there are several, or none.
std::optional<std::int64_t> rankInAll(const FlightGroups& groups);
// Whether all groups whose ranks are known contain the rank.
bool mayBeRank(const FlightGroups& groups, std::int64_t rank);

// Gives each group of the job a key that is the same in the dumps of all its ranks. Groups of other
// ranks may have the same name and description, and then get their ranks as a suffix.
class JobGroups {
 public:
  std::string keyOf(const FlightGroup& group);

 private:
  std::map<std::string, std::vector<std::int64_t>> ranks_;  // by key
};

}  // namespace sonde::ingest
