// A check's report as text to read and for other programs. Plain functions; any thread.
#pragma once

#include "rules/engine/check.h"

#include <string>

namespace sonde::rules {

// One line per result, the most serious first, and a summary line. Findings that fired have lines
// with advice below them.
std::string renderText(const CheckReport& report);

// A JSON document: {"schema", "verdict", "results": […]}.
std::string renderJson(const CheckReport& report);
// One of its results, on one line.
std::string renderJson(const CheckResult& result);

}  // namespace sonde::rules
