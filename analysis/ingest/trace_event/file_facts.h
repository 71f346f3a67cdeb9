// What torch.profiler says of a run beside its events. Free functions; any thread. What is not
// there, or not of the type it should be, is none.
#pragma once

#include "analysis/ingest/trace_event/event_fields.h"

#include <string>
#include <string_view>
#include <vector>

namespace sonde::ingest {

struct DistributedInfo {
  OptionalNumber rank{};
  OptionalNumber worldSize{};
};

struct DeviceFacts {
  std::int64_t ordinal = 0;
  std::string name;
  OptionalNumber memoryBytes{};
};

// Of the JSON texts of the file's members of these names.
OptionalNumber baseTimeOf(std::string_view baseTimeNanoseconds);
DistributedInfo distributedInfoOf(std::string_view distributedInfo);
std::vector<DeviceFacts> devicesOf(std::string_view deviceProperties);

}  // namespace sonde::ingest
