// The tables of report_usage.h. Times are since the trace's origin. Pure functions.
#pragma once

#include "cli/report/report_usage.h"
#include "cli/text/table.h"

#include <cstdint>
#include <vector>

namespace sonde::cli {

struct UsageTable {
  const char* key;      // of the JSON document
  const char* heading;  // for a person
  Table (*make)(const UsageReport& usage, std::int64_t originNs);
  const char* missing;  // said instead of an empty table; nullptr: nothing
};

// In the order in which they are shown.
const std::vector<UsageTable>& usageTables();

}  // namespace sonde::cli
