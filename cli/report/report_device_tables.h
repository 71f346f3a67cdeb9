// The tables of report_devices.h. Each begins with the rank that a row is of. Pure functions.
#pragma once

#include "analysis/engine/device/spread.h"
#include "cli/report/report_text.h"
#include "cli/text/table.h"

#include <optional>
#include <string>
#include <vector>

namespace sonde::cli {

struct DeviceTable {
  const char* key;      // of the JSON document
  const char* heading;  // for a person
  Table (*make)(const JobReport& report);
};

// In the order in which they are shown.
const std::vector<DeviceTable>& deviceTables();

// What other tables of devices share with these: how values are spread, but for their count, and
// whole bytes a second.
std::vector<Column> spreadColumns(const std::string& prefix = "", const char* title = "total");
std::vector<Cell> spreadCells(const engine::device::Spread& spread);
Cell rateCell(const std::optional<double>& bytesPerSecond);

}  // namespace sonde::cli
