// `sonde whatif --plot`: an iteration before and after, by cause. Plain functions; the verb writes
// the file.
#pragma once

#include "analysis/engine/whatif/answer.h"
#include "analysis/export/charts/bar_chart.h"

#include <string>

namespace sonde::cli {

// Two bars, as long as the mean iteration now and then. Their parts are in the proportions of the
// critical paths; the second has the answer's interval.
exports::BarChart chartOf(const engine::whatif::Answer& answer, const std::string& title);

}  // namespace sonde::cli
