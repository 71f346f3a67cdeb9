// The sections of an HTML report, in their order on the page. Each adds itself if the job has what
// it shows, and returns whether it did. Pure functions.
#pragma once

#include "cli/html/html_report.h"
#include "cli/html/page.h"

namespace sonde::cli {

void addHead(Page& page, const HtmlValues& values);
void addVerdicts(Page& page, const rules::CheckReport& check);

bool addIterations(Page& page, const HtmlValues& values);
bool addTimes(Page& page, const HtmlValues& values);
bool addOperations(Page& page, const HtmlValues& values);
bool addDevices(Page& page, const HtmlValues& values);
bool addCommunication(Page& page, const HtmlValues& values);
bool addStalls(Page& page, const HtmlValues& values);
bool addMemory(Page& page, const HtmlValues& values);
bool addScalars(Page& page, const HtmlValues& values);
bool addEnergy(Page& page, const HtmlValues& values);
bool addRecording(Page& page, const HtmlValues& values);

}  // namespace sonde::cli
