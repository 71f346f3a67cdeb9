// Times as stacked bars, one SVG picture: groups of bars, of each its parts without what recording
// took, with the interval of its error, and below it the parts as they were recorded. All lengths
// are on one axis from 0; nothing is rescaled. Plain values and a pure function.
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
    std::string label;        // within its group; empty: it is alone in it
    std::vector<Part> parts;  // from 0 on
    std::int64_t ns = 0;      // the sum of its parts
    std::int64_t lowNs = 0;
    std::int64_t highNs = 0;
    std::int64_t rawNs = 0;
  };
  struct Group {
    std::string label;
    std::vector<Bar> bars;
  };

  std::string title;
  std::vector<std::string> notes;   // a line each, below the title
  std::vector<std::string> series;  // of the legend; the last may stand for several
  bool lastIsRest = false;          // … and does
  bool corrected = false;           // else the bars are as recorded, and alone
  std::vector<Group> groups;        // from above
};

// Colours can be told apart whatever colours one sees for this many series and a rest.
inline constexpr std::size_t kMostSeries = 7;

std::string svgOf(const BarChart& chart);

}  // namespace sonde::exports
