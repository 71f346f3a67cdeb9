// `sonde breakdown --plot`: its rows as a picture of stacked bars. Plain functions; writing is the
// verb's.
#pragma once

#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/export/charts/bar_chart.h"
#include "base/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sonde::cli {

// More are joined as "N others".
inline constexpr std::size_t kMostBars = 96;
inline constexpr std::size_t kMostProcesses = 16;

// InvalidArgument: the name of a picture ends otherwise than in .svg or .png.
Result<void> checkPlotName(const std::string& path);

// `rows`: as the verb was asked for. `bars`: the same without categories and resources, so that
// each row is the length of a bar with its interval. `by`: what rows are told apart by.
exports::BarChart plotOf(const engine::breakdown::Breakdown& rows,
                         const engine::breakdown::Breakdown& bars,
                         const engine::breakdown::Dimensions& by,
                         const std::vector<std::string>& traces);

// By the ending of `path`. PNG is drawn by sonde-gui. InvalidArgument: the file exists, or cannot
// be made. Unsupported: there is no sonde-gui, or it has no font.
Result<void> writePlot(const exports::BarChart& chart, const std::string& path, bool replace);

}  // namespace sonde::cli
