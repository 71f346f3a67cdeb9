// `sonde breakdown --plot`: its rows as a picture of stacked bars. Plain functions; the verb writes
// the file.
#pragma once

#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/export/charts/bar_chart.h"
#include "base/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sonde::cli {

// Further ones are joined as "N others".
inline constexpr std::size_t kMostBars = 96;
inline constexpr std::size_t kMostProcesses = 16;

// InvalidArgument: the name does not end in .svg or .png.
Result<void> checkPlotName(const std::string& path);

// `rows`: as requested. `bars`: the same without categories and resources, so that each row is the
// length of a bar with its interval. `by`: the dimensions of the rows.
exports::BarChart plotOf(const engine::breakdown::Breakdown& rows,
                         const engine::breakdown::Breakdown& bars,
                         const engine::breakdown::Dimensions& by,
                         const std::vector<std::string>& traces);

// The format follows from the suffix of `path`. sonde-gui draws PNG. InvalidArgument: the file
// exists, or cannot be created. Unsupported: there is no sonde-gui, or it has no font.
Result<void> writePlot(const exports::BarChart& chart, const std::string& path, bool replace);

}  // namespace sonde::cli
