// What torch.profiler says of a run beside its events. Free functions; any thread. What is not
// there, or not of the type it should be, is none.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/ingest/import/imported_places.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::ingest {

// The ranks of process groups, in the order of their positions, by name. Groups of the same name:
// the first.
using ProcessGroups = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

struct DistributedInfo {
  OptionalNumber rank{};
  OptionalNumber worldSize{};
  ProcessGroups groups{};  // of which all ranks are given
  bool isReadable = true;  // as JSON, and what it says of rank and world size as numbers
};

struct DeviceFacts {
  std::int64_t ordinal = 0;
  std::string host;  // empty: not said
  OptionalNumber hostId{};
  ImportedPlaces::Device facts;
};

// Of the JSON texts of the file's members of these names. A longer one than this is none of
// torch.profiler's, and takes memory for nothing: not to be given.
constexpr std::size_t kLongestFacts = 8 << 20;
OptionalNumber baseTimeOf(std::string_view baseTimeNanoseconds);
DistributedInfo distributedInfoOf(std::string_view distributedInfo);
std::vector<DeviceFacts> devicesOf(std::string_view deviceProperties);

}  // namespace sonde::ingest
