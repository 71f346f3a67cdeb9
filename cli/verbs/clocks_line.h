// The clocks of a job's hosts, as a line of text. Plain functions.
#pragma once

#include "analysis/engine/align/align.h"

#include <string>

namespace sonde::cli {

// Empty if the job has one host.
std::string clocksLine(const engine::align::Alignment& alignment);

}  // namespace sonde::cli
