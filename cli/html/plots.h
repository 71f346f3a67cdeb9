// Plots as inline SVG, whose colours follow the page's style sheet. Plain values and pure
// functions.
#pragma once

#include "cli/html/page.h"
#include "cli/text/table.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sonde::cli {

// Classes c0 to c7 of the style sheet; further series begin anew.
inline constexpr std::size_t kPlotColours = 8;
// A plot draws at most about this many points of all its series together.
inline constexpr std::size_t kMostPlotPoints = 4000;

struct PlotPoint {
  double x = 0;
  double y = 0;  // one that is not finite interrupts the line
};

struct LinePlot {
  struct Series {
    std::string name;
    std::vector<PlotPoint> points;  // ascending in x
    // Points above this are marked, and the line is drawn; unset: none.
    std::optional<double> limit = {};
  };
  std::string title;   // for readers that do not see the picture
  std::string xTitle;  // "iteration"
  ColumnKind xKind = ColumnKind::Integer;
  ColumnKind yKind = ColumnKind::DurationNs;
  bool isSmall = false;  // two fit beside each other
  bool fromZero = true;  // the y axis begins at 0
  std::vector<Series> series;
};

// The plot, its legend, and a line that says how many points it leaves out. It draws the highest
// and the lowest of neighbours that share a place.
void addPlot(Page& page, const LinePlot& plot);

struct StackedBars {
  struct Bar {
    std::string label;
    std::vector<std::int64_t> parts;  // by series
  };
  std::vector<std::string> series;
  ColumnKind kind = ColumnKind::DurationNs;
  std::vector<Bar> bars;
  bool lastIsRest = false;  // the last series is grey: idle time, or the rest
};

// Each bar is as long as the page allows for the longest one. Draws the first `limit` bars, and
// says how many it leaves out. Series without any value have no place in the legend.
void addBars(Page& page, const StackedBars& bars, std::size_t limit);

}  // namespace sonde::cli
