// The device part of a report: tables by rank, device, stream, kernel and call, and of collectives
// over the ranks. The same tables are the sections of `--full` and the keys of the JSON document.
// Pure functions.
#pragma once

#include "cli/report/report_device_tables.h"
#include "cli/report/report_lines.h"
#include "cli/report/report_text.h"

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

// Adds a table of `--full` with its heading; nothing if it is empty. It is wider than a screen,
// since it has more numbers. Names are shortened if needed.
void appendSection(Lines& lines, const char* heading, Table table);

// The tables of what the host does for devices, and of collectives, in display order. The JSON
// document has them beside deviceTables().
const std::vector<DeviceTable>& costTables();

// All sections, each with its heading; empty for a job without devices and collectives.
Lines deviceSections(const JobReport& report);

// Whether a rank holds up the others; empty if no two ranks share a collective.
Lines stragglerLines(const JobReport& report);

// Adds the keys of the device part. `full`: also each collective with its arrivals.
void addDevicesJson(nlohmann::json& document, const JobReport& report, bool full);

}  // namespace sonde::cli
