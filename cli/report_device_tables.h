// The tables of report_devices.h. Each begins with the rank that a row is of. Pure functions.
#pragma once

#include "cli/report_text.h"
#include "cli/table.h"

namespace sonde::cli {

struct DeviceTable {
  const char* key;      // of the JSON document
  const char* heading;  // for a person
  Table (*make)(const JobReport& report);
};

// In the order in which they are shown.
const std::vector<DeviceTable>& deviceTables();

}  // namespace sonde::cli
