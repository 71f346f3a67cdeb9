#include "analysis/export/charts/bar_chart.h"

#include "analysis/export/svg_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

namespace sonde::exports {
namespace {

constexpr double kChartWidth = 1200;
constexpr double kMargin = 16;
constexpr double kChartLetter = 6.6;  // of the font below, on average
constexpr double kBoldLetter = 7.5;
constexpr double kValueRoom = 170;  // right of the longest bar
constexpr double kLine = 18;        // of notes and the legend
constexpr double kBar = 11;
constexpr double kRawBar = 6;
constexpr double kBarGap = 4;
constexpr double kGroupGap = 8;
constexpr std::size_t kLabelLetters = 36;
constexpr int kTicks = 8;  // approximately

// Okabe and Ito, "Color Universal Design" (2008), without black.
constexpr std::array<const char*, kMostSeries> kColours = {
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"};
constexpr const char* kRest = "#999999";

struct Unit {
  const char* name;
  double ns;
};
constexpr Unit kUnits[] = {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}};

const Unit& unitOf(double ns) {
  const auto* const fits = std::find_if(
      std::begin(kUnits), std::end(kUnits), [ns](const Unit& u) { return ns >= u.ns; });
  return fits == std::end(kUnits) ? kUnits[std::size(kUnits) - 1] : *fits;
}

std::string timeText(std::int64_t ns) {
  const Unit& unit = unitOf(std::abs(static_cast<double>(ns)));
  return fmt::format("{:.4g} {}", static_cast<double>(ns) / unit.ns, unit.name);
}

std::string text(double x, double y, std::string_view words, std::string_view attributes = "") {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, attributes, svgEscaped(words));
}

class Drawing {
 public:
  explicit Drawing(const BarChart& chart) : chart_(chart) {
    std::size_t group = 0;
    std::size_t bar = 0;
    for (const BarChart::Group& each : chart.groups) {
      group = std::max(group, letterCount(each.label));
      for (const BarChart::Bar& one : each.bars) {
        bar = std::max(bar, letterCount(one.label));
        most_ = std::max({most_, one.ns, one.highNs, one.rawNs});
      }
    }
    barLabels_ = static_cast<double>(std::min(bar, kLabelLetters)) * kChartLetter;
    left_ = kMargin + static_cast<double>(std::min(group, kLabelLetters)) * kBoldLetter +
            barLabels_ + (bar > 0 ? 14 : 8);
  }

  std::string draw() {
    const double top = drawHead();
    const double bottom = drawGroups(top);
    drawAxis(top, bottom);
    const double height = bottom + 48;
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"DejaVu Sans, Helvetica, Arial, "
        "sans-serif\" font-size=\"11\" fill=\"#222222\">\n"
        "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n{2}{3}{4}</svg>\n",
        kChartWidth,
        height,
        head_,
        grid_,
        bars_);
  }

 private:
  double x(double ns) const {
    const double room = kChartWidth - left_ - kValueRoom;
    return left_ + (most_ > 0 ? ns / static_cast<double>(most_) * room : 0);
  }
  double x(std::int64_t ns) const { return x(static_cast<double>(ns)); }
  const char* colourOf(std::size_t series) const {
    if (series < chart_.colours.size())
      return chart_.colours[series].c_str();
    const bool isRest = chart_.lastIsRest && series + 1 == chart_.series.size();
    return isRest || series >= kColours.size() ? kRest : kColours.at(series);
  }

  // Draws title, notes and legend; returns where the bars begin.
  double drawHead() {
    head_ += text(kMargin, 26, chart_.title, " font-size=\"16\" font-weight=\"bold\"");
    double y = 44;
    for (const std::string& note : chart_.notes) {
      head_ += text(kMargin, y, note);
      y += kLine;
    }
    y += 4;
    double at = kMargin;
    for (std::size_t series = 0; series < chart_.series.size(); ++series) {
      const std::string name = svgShortened(chart_.series[series], 2 * kLabelLetters);
      const double width = 18 + static_cast<double>(letterCount(name)) * kChartLetter + 16;
      if (at > kMargin && at + width > kChartWidth - kMargin) {
        at = kMargin;
        y += kLine;
      }
      head_ +=
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n",
                      at,
                      y - 10,
                      colourOf(series));
      head_ += text(at + 18, y, name);
      at += width;
    }
    return y + 32;
  }

  // Returns where the groups end.
  double drawGroups(double y) {
    for (const BarChart::Group& group : chart_.groups) {
      bars_ += fmt::format("<g><title>{}</title>", svgEscaped(group.label));
      bars_ += text(left_ - barLabels_ - (barLabels_ > 0 ? 14 : 8),
                    y + 10,
                    svgShortened(group.label, kLabelLetters),
                    " text-anchor=\"end\" font-weight=\"bold\"");
      bars_ += "</g>\n";
      for (const BarChart::Bar& bar : group.bars)
        y = drawBar(group, bar, y);
      y += kGroupGap;
    }
    return y;
  }

  double drawBar(const BarChart::Group& group, const BarChart::Bar& bar, double y) {
    if (!bar.label.empty())
      bars_ += text(left_ - 8,
                    y + 10,
                    svgShortened(bar.label, kLabelLetters),
                    " text-anchor=\"end\" fill=\"#555555\"");
    drawParts(group, bar, &BarChart::Part::ns, y, kBar);
    std::string value = timeText(bar.ns);
    double end = x(bar.ns);
    if (bar.lowNs < bar.highNs) {
      drawInterval(bar, y + kBar / 2);
      end = std::max(end, x(bar.highNs));
    }
    if (chart_.corrected) {
      drawParts(group, bar, &BarChart::Part::rawNs, y + kBar, kRawBar);
      value += fmt::format(", recorded {}", timeText(bar.rawNs));
      end = std::max(end, x(bar.rawNs));
    }
    bars_ += text(end + 6, y + 10, value);
    return y + kBar + (chart_.corrected ? kRawBar : 0) + kBarGap;
  }

  void drawParts(const BarChart::Group& group,
                 const BarChart::Bar& bar,
                 std::int64_t BarChart::Part::*which,
                 double y,
                 double height) {
    const bool isRaw = which == &BarChart::Part::rawNs;
    double from = 0;
    for (const BarChart::Part& part : bar.parts) {
      const auto ns = static_cast<double>(part.*which);
      if (ns <= 0)
        continue;
      bars_ += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"{}>"
          "<title>{}{}{}: {}, {}{}</title></rect>\n",
          x(from),
          y,
          x(from + ns) - x(from),
          height,
          colourOf(part.series),
          isRaw ? " fill-opacity=\"0.45\"" : "",
          svgEscaped(group.label),
          bar.label.empty() ? "" : ", ",
          svgEscaped(bar.label),
          svgEscaped(chart_.series[part.series]),
          timeText(part.*which),
          isRaw ? " as recorded" : "");
      from += ns;
    }
  }

  void drawInterval(const BarChart::Bar& bar, double y) {
    bars_ += fmt::format(
        "<path d=\"M{0:.2f} {2:.1f}H{1:.2f}M{0:.2f} {3:.1f}V{4:.1f}M{1:.2f} {3:.1f}V{4:.1f}\" "
        "stroke=\"#000000\" stroke-width=\"1\" fill=\"none\"/>\n",
        x(bar.lowNs),
        x(bar.highNs),
        y,
        y - 3,
        y + 3);
  }

  // Ticks at 1, 2 or 5 times a power of ten.
  void drawAxis(double top, double bottom) {
    const Unit& unit = unitOf(static_cast<double>(most_));
    const double rough = std::max(static_cast<double>(most_) / unit.ns / kTicks, 1e-9);
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough / power <= 1   ? 1
                                 : rough / power <= 2 ? 2
                                 : rough / power <= 5 ? 5
                                                      : 10);
    for (int tick = 0; tick * step * unit.ns <= static_cast<double>(most_); ++tick) {
      const double at = x(tick * step * unit.ns);
      grid_ +=
          fmt::format("<path d=\"M{:.2f} {:.1f}V{:.1f}\" stroke=\"#dddddd\" stroke-width=\"1\"/>\n",
                      at,
                      top - 4,
                      bottom);
      for (const double y : {top - 8, bottom + 14})
        grid_ += text(at, y, fmt::format("{:.6g}", tick * step), " text-anchor=\"middle\"");
    }
    grid_ += text(x(static_cast<double>(most_) / 2),
                  bottom + 34,
                  fmt::format("time ({})", unit.name),
                  " text-anchor=\"middle\"");
  }

  const BarChart& chart_;
  double left_ = 0;
  double barLabels_ = 0;
  std::int64_t most_ = 0;
  std::string head_;
  std::string grid_;
  std::string bars_;
};

}  // namespace

std::string svgOf(const BarChart& chart) {
  return Drawing(chart).draw();
}

}  // namespace sonde::exports
