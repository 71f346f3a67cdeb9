// Reads torch.profiler's facts about a run beside its events. Free functions; any thread. Values
// that are missing or have the wrong type are unset.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/ingest/import/imported_devices.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::ingest {

// The ranks of process groups by name, in the order of their positions. If names repeat, the first
// group counts.
using ProcessGroups = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

struct DistributedInfo {
  OptionalNumber rank{};
  OptionalNumber worldSize{};
  ProcessGroups groups{};  // those with all ranks listed
  bool isReadable = true;  // it is JSON, and its rank and world size are numbers
};

struct DeviceFacts {
  std::int64_t ordinal = 0;
  std::string host;  // empty: unknown
  OptionalNumber hostId{};
  ImportedDevices::Facts facts;
};

// The arguments are the JSON texts of the file's members with these names. Longer ones are not
// torch.profiler's and waste memory: do not pass them.
constexpr std::size_t kLongestFacts = 8 << 20;
OptionalNumber baseTimeOf(std::string_view baseTimeNanoseconds);
DistributedInfo distributedInfoOf(std::string_view distributedInfo);
std::vector<DeviceFacts> devicesOf(std::string_view deviceProperties);

}  // namespace sonde::ingest
