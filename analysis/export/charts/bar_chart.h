// Times as stacked bars in one SVG picture, each with its error interval. A bar of corrected times
// shows its parts without the cost of recording; below it are the parts as recorded. All bars share
// one axis from 0. Plain values and a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::exports {

struct BarChart {
  struct Part {
    std::size_t series = 0;  // an index
    std::int64_t ns = 0;
    std::int64_t rawNs = 0;  // as recorded
  };
  struct Bar {
    std::string label;        // within its group; empty: the group's only bar
    std::vector<Part> parts;  // starting at 0
    std::int64_t ns = 0;      // the sum of its parts
    std::int64_t lowNs = 0;   // of its error interval; none is drawn if it is empty
    std::int64_t highNs = 0;
    std::int64_t rawNs = 0;
  };
  struct Group {
    std::string label;
    std::vector<Bar> bars;
  };

  std::string title;
  std::vector<std::string> notes;    // a line each, below the title
  std::vector<std::string> series;   // for the legend; the last may stand for several
  std::vector<std::string> colours;  // of the series, as "#rrggbb"; empty: by their order
  bool lastIsRest = false;           // … and it does
  bool corrected = false;            // false: the bars are as recorded; no second bar
  std::vector<Group> groups;         // from top to bottom
};

// For this many series and a rest, colours stay distinct with any kind of colour vision.
inline constexpr std::size_t kMostSeries = 7;

std::string svgOf(const BarChart& chart);

}  // namespace sonde::exports
