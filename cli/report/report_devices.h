// What the devices of a job did, in a report: tables by rank, device, stream, kernel and call, and
// of collectives over the ranks. The same tables are the sections of `--full` and the keys of the
// JSON document. Pure functions.
#pragma once

#include "cli/report/report_lines.h"
#include "cli/report/report_text.h"

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

// A table of `--full`, with its heading; nothing of an empty one. Wider than the one screen: there
// are more numbers than fit there. Names give way.
void appendSection(Lines& lines, const char* heading, Table table);

// All sections, each with its heading; none of a job without devices and collectives.
Lines deviceSections(const JobReport& report);

// Whether one of the ranks holds up the others; nothing where no two share a collective.
Lines stragglerLines(const JobReport& report);

// Adds its keys. `full`: also each collective with its arrivals.
void addDevicesJson(nlohmann::json& document, const JobReport& report, bool full);

}  // namespace sonde::cli
