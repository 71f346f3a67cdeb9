// Times by path as a picture: a flame graph, one SVG file that any browser shows. Click on a frame:
// it fills the picture; on the lowest: back. "/" asks for a word and marks the frames that have it.
//
// Source: Brendan Gregg, "The Flame Graph", ACM Queue 14(2), 2016.
#pragma once

#include "analysis/export/output_file.h"
#include "analysis/export/path_tree.h"
#include "base/result.h"

#include <string_view>

namespace sonde::exports {

// What the frames' widths are: which time ("CPU time"), in ns, or which bytes.
struct FlameMeasure {
  std::string_view what;
  bool isBytes = false;
};

// Frames that would be narrower than a tenth of a pixel are left out.
Result<void> writeFlameGraph(const PathTree& paths,
                             std::string_view title,
                             const FlameMeasure& measure,
                             OutputFile& output);

}  // namespace sonde::exports
