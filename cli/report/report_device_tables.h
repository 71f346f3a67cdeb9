// The tables of report_devices.h. Each row begins with its rank. Pure functions.
#pragma once

#include "analysis/engine/device/spread.h"
#include "cli/report/report_text.h"
#include "cli/text/table.h"

#include <optional>
#include <string>
#include <vector>

namespace sonde::cli {

struct DeviceTable {
  const char* key;      // in the JSON document
  const char* heading;  // for a person
  Table (*make)(const JobReport& report);
};

// In display order.
const std::vector<DeviceTable>& deviceTables();

// Columns that other device tables share with these: percentiles without the count, and whole bytes
// per second.
std::vector<Column> spreadColumns(const std::string& prefix = "", const char* title = "total");
std::vector<Cell> spreadCells(const engine::device::Spread& spread);
Cell rateCell(const std::optional<double>& bytesPerSecond);

}  // namespace sonde::cli
