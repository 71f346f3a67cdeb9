// A flame graph: times by path as one SVG file for any browser. A click on a frame zooms to it; a
// click on the lowest zooms out. "/" asks for a word and marks the frames that contain it.
//
// Source: Brendan Gregg, "The Flame Graph", ACM Queue 14(2), 2016.
#pragma once

#include "analysis/export/output_file.h"
#include "analysis/export/path_tree.h"
#include "base/result.h"

#include <string_view>

namespace sonde::exports {

// The meaning of the frames' widths: a time in ns ("CPU time"), or bytes.
struct FlameMeasure {
  std::string_view what;
  bool isBytes = false;
};

// Leaves out frames narrower than a tenth of a pixel.
Result<void> writeFlameGraph(const PathTree& paths,
                             std::string_view title,
                             const FlameMeasure& measure,
                             OutputFile& output);

}  // namespace sonde::exports
