// The tables of report_usage.h. Times are relative to the trace's origin. Pure functions.
#pragma once

#include "cli/report/report_usage.h"
#include "cli/text/table.h"

#include <cstdint>
#include <vector>

namespace sonde::cli {

struct UsageTable {
  const char* key;      // in the JSON document
  const char* heading;  // for a person
  Table (*make)(const UsageReport& usage, std::int64_t originNs);
  const char* missing;  // printed instead of an empty table; nullptr: nothing
};

// In display order.
const std::vector<UsageTable>& usageTables();

}  // namespace sonde::cli
