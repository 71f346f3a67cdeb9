#include "cli/html/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace sonde::cli {
namespace {

constexpr double kWidth = 920;
constexpr double kSmallWidth = 460;
constexpr double kHeight = 240;
constexpr double kSmallHeight = 190;
constexpr double kLeft = 76;
constexpr double kRight = 10;
constexpr double kTop = 10;
constexpr double kBottom = 38;
constexpr std::size_t kLegendNames = 12;
constexpr std::size_t kDottedPoints =
    40;  // of a line that also shows its points, if there are few lines

std::string colourOf(std::size_t series) {
  return fmt::format("c{}", series % kPlotColours);
}

// Grey for the rest.
std::string colourOf(std::size_t series, const StackedBars& bars) {
  const bool isRest = bars.lastIsRest && series + 1 == bars.series.size();
  return colourOf(isRest ? kPlotColours - 1 : series);
}

std::string place(double value) {
  return fmt::format("{:.1f}", value);
}

std::string labelOf(double value, ColumnKind kind) {
  if (kind == ColumnKind::Real)
    return fmt::format("{:.4g}", value);
  constexpr double kMost = 9.2e18;  // fits an integer
  return humanCell(static_cast<std::int64_t>(std::llround(std::clamp(value, -kMost, kMost))), kind);
}

// A stretch of values and its place in the picture.
struct Axis {
  double low = 0;
  double high = 1;
  double from = 0;  // where `low` is
  double to = 1;

  // Quarters, because the range of doubles is twice the largest double.
  double quarter() const { return high / 4 - low / 4; }
  double at(double value) const { return from + (value / 4 - low / 4) / quarter() * (to - from); }
};

// Gives an axis a length that doubles can divide: a series may be constant, or differ in its last
// bit only.
void widen(Axis& axis, double below, double above) {
  constexpr double kLeastShare = 1e-9;
  constexpr double kLeast = 1e-300;
  constexpr double kShare = 1e-3;  // visible in labels of four digits
  const double magnitude = std::max(std::abs(axis.low), std::abs(axis.high));
  if (axis.quarter() >= std::max(kLeastShare * magnitude, kLeast))
    return;
  const double scale = std::max(1.0, kShare * magnitude);
  axis.low -= below * scale;
  axis.high += above * scale;
}

// The multiples of `step` on an axis, by index: a sum of steps would add up rounding errors, or
// never advance.
std::vector<double> multiplesOf(double step, const Axis& axis) {
  constexpr double kRounding = 1e-6;  // of a step
  constexpr int kMostTicks = 50;
  const double first = std::ceil(axis.low / step);
  const double last = std::floor(axis.high / step + kRounding);
  std::vector<double> ticks;
  for (int at = 0; at < kMostTicks && first + at <= last; ++at)
    ticks.push_back((first + at) * step + 0.0);  // no −0
  return ticks;
}

// Steps of 1, 2 or 5 times a power of ten: about five of them, or whole numbers.
std::vector<double> ticksOf(const Axis& axis, bool whole) {
  const double rough = axis.quarter() / 5 * 4;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0})
    if (step < rough)
      step = power * factor;
  if (whole)
    step = std::max(step, 1.0);
  return multiplesOf(step, axis);
}

// Powers of two for bytes, so that labels are whole.
std::vector<double> byteTicksOf(const Axis& axis) {
  return multiplesOf(std::exp2(std::ceil(std::log2(std::max(axis.quarter() / 6 * 4, 1.0)))), axis);
}

struct Frame {
  Axis x;
  Axis y;
  double width = kWidth;
  double height = kHeight;
};

Frame frameOf(const LinePlot& plot) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const double width = plot.isSmall ? kSmallWidth : kWidth;
  const double height = plot.isSmall ? kSmallHeight : kHeight;
  Frame frame{{kNone, -kNone, kLeft, width - kRight},
              {kNone, -kNone, height - kBottom, kTop},
              width,
              height};
  const auto grow = [](Axis& axis, double value) {
    axis.low = std::min(axis.low, value);
    axis.high = std::max(axis.high, value);
  };
  for (const LinePlot::Series& series : plot.series)
    for (const PlotPoint& point : series.points)
      if (std::isfinite(point.y)) {
        grow(frame.x, point.x);
        grow(frame.y, point.y);
      }
  if (frame.x.low > frame.x.high)
    frame.x.low = frame.x.high = frame.y.low = frame.y.high = 0;
  if (plot.fromZero)
    grow(frame.y, 0);
  widen(frame.x, 0, 1);
  widen(frame.y, plot.fromZero ? 0 : 0.5, plot.fromZero ? 1 : 0.5);
  constexpr double kMost = std::numeric_limits<double>::max();
  const double room = frame.y.quarter() / 5;
  frame.y.high = std::min(frame.y.high + room, kMost);
  if (!plot.fromZero)
    frame.y.low = std::max(frame.y.low - room, -kMost);
  return frame;
}

// At most about `most`: the lowest and the highest of each of as many stretches as half of that.
std::vector<PlotPoint> thinnedPoints(const std::vector<PlotPoint>& points, std::size_t most) {
  if (points.size() <= most)
    return points;
  const std::size_t stretches = std::max<std::size_t>(most / 2, 1);
  std::vector<PlotPoint> kept;
  for (std::size_t stretch = 0; stretch < stretches; ++stretch) {
    const auto first =
        points.begin() + static_cast<std::ptrdiff_t>(stretch * points.size() / stretches);
    const auto last =
        points.begin() + static_cast<std::ptrdiff_t>((stretch + 1) * points.size() / stretches);
    const auto [low, high] = std::minmax_element(
        first, last, [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; });
    kept.push_back(low->x <= high->x ? *low : *high);
    if (low != high)
      kept.push_back(low->x <= high->x ? *high : *low);
  }
  return kept;
}

void addAxes(Page& page, const LinePlot& plot, const Frame& frame) {
  const bool isBytes = plot.yKind == ColumnKind::Bytes;
  for (const double tick :
       isBytes ? byteTicksOf(frame.y) : ticksOf(frame.y, plot.yKind == ColumnKind::Integer)) {
    const std::string y = place(frame.y.at(tick));
    page.empty("line",
               {{"class", "grid"},
                {"x1", place(kLeft)},
                {"x2", place(frame.width - kRight)},
                {"y1", y},
                {"y2", y}});
    page.element(
        "text",
        labelOf(tick, plot.yKind),
        {{"x", place(kLeft - 8)}, {"y", place(frame.y.at(tick) + 4)}, {"text-anchor", "end"}});
  }
  for (const double tick : ticksOf(frame.x, plot.xKind == ColumnKind::Integer))
    page.element("text",
                 labelOf(tick, plot.xKind),
                 {{"x", place(frame.x.at(tick))},
                  {"y", place(frame.height - kBottom + 16)},
                  {"text-anchor", "middle"}});
  page.element("text",
               plot.xTitle,
               {{"x", place((kLeft + frame.width - kRight) / 2)},
                {"y", place(frame.height - 4)},
                {"text-anchor", "middle"},
                {"class", "axis"}});
}

// Joins the finite points; a single one between two gaps is a dot.
std::string pathOf(const std::vector<PlotPoint>& points, const Frame& frame) {
  std::string path;
  bool isOpen = false;
  for (const PlotPoint& point : points) {
    if (!std::isfinite(point.y)) {
      isOpen = false;
      continue;
    }
    path += fmt::format(
        "{}{:.1f} {:.1f}", isOpen ? "L" : "M", frame.x.at(point.x), frame.y.at(point.y));
    if (!isOpen)
      path += "h0";
    isOpen = true;
  }
  return path;
}

void addSeries(Page& page,
               const LinePlot& plot,
               std::size_t index,
               const std::vector<PlotPoint>& points,
               const Frame& frame) {
  const LinePlot::Series& series = plot.series[index];
  page.begin("g", {{"class", colourOf(index)}}).element("title", series.name);
  page.empty("path", {{"class", "line"}, {"d", pathOf(points, frame)}});
  if (points.size() <= kDottedPoints && plot.series.size() <= kPlotColours)
    for (const PlotPoint& point : points)
      if (std::isfinite(point.y))
        page.empty("circle",
                   {{"class", "dot"},
                    {"cx", place(frame.x.at(point.x))},
                    {"cy", place(frame.y.at(point.y))},
                    {"r", "2.5"}});
  if (series.limit)
    for (const PlotPoint& point : points)
      if (std::isfinite(point.y) && point.y > *series.limit) {
        page.begin("circle",
                   {{"class", "outlier"},
                    {"cx", place(frame.x.at(point.x))},
                    {"cy", place(frame.y.at(point.y))},
                    {"r", "4"}});
        page.element("title",
                     fmt::format("{}, {} {}: {}",
                                 series.name,
                                 plot.xTitle,
                                 labelOf(point.x, plot.xKind),
                                 labelOf(point.y, plot.yKind)));
        page.end();
      }
  page.end();
}

struct LegendKey {
  std::string colour;
  std::string name;
};

void addLegend(Page& page, const std::vector<LegendKey>& keys) {
  page.begin("p", {{"class", "legend"}});
  for (std::size_t at = 0; at < std::min(keys.size(), kLegendNames); ++at) {
    page.begin("span", {{"class", "key " + keys[at].colour}}).end();
    page.element("span", keys[at].name);
  }
  if (keys.size() > kLegendNames)
    page.element("span", fmt::format("and {} more", keys.size() - kLegendNames));
  page.end();
}

// The series that some bar has.
std::vector<LegendKey> keysOf(const StackedBars& bars) {
  std::vector<LegendKey> keys;
  for (std::size_t part = 0; part < bars.series.size(); ++part)
    if (std::any_of(bars.bars.begin(), bars.bars.end(), [&](const StackedBars::Bar& bar) {
          return part < bar.parts.size() && bar.parts[part] > 0;
        }))
      keys.push_back({colourOf(part, bars), bars.series[part]});
  return keys;
}

void addBar(Page& page, const StackedBars& bars, const StackedBars::Bar& bar, double longest) {
  const auto sum = std::accumulate(bar.parts.begin(), bar.parts.end(), std::int64_t{0});
  page.begin("div", {{"class", "bar"}}).element("div", bar.label, {{"class", "label"}});
  page.begin("div", {{"class", "track"}});
  for (std::size_t part = 0; part < bar.parts.size(); ++part) {
    if (bar.parts[part] <= 0)
      continue;
    const double share = static_cast<double>(bar.parts[part]) / longest;
    page.element(
        "span",
        share > 0.09 ? humanCell(bar.parts[part], bars.kind) : "",
        {{"class", "part " + colourOf(part, bars)},
         {"style", fmt::format("width:{:.2f}%", 100 * share)},
         {"title",
          fmt::format("{}: {}, {:.1f} %",
                      bars.series[part],
                      humanCell(bar.parts[part], bars.kind),
                      100 * static_cast<double>(bar.parts[part]) / static_cast<double>(sum))}});
  }
  page.end().element("div", humanCell(sum, bars.kind), {{"class", "sum"}}).end();
}

}  // namespace

void addPlot(Page& page, const LinePlot& plot) {
  const Frame frame = frameOf(plot);
  const std::size_t most =
      std::max<std::size_t>(kMostPlotPoints / std::max<std::size_t>(plot.series.size(), 1), 24);
  page.begin("svg",
             {{"viewBox", fmt::format("0 0 {} {}", frame.width, frame.height)},
              {"role", "img"},
              {"class", "plot"}});
  page.element("title", plot.title);
  addAxes(page, plot, frame);
  std::size_t all = 0;
  std::size_t drawn = 0;
  std::vector<LegendKey> keys;
  for (std::size_t at = 0; at < plot.series.size(); ++at) {
    const std::vector<PlotPoint> points = thinnedPoints(plot.series[at].points, most);
    addSeries(page, plot, at, points, frame);
    all += plot.series[at].points.size();
    drawn += points.size();
    keys.push_back({colourOf(at), plot.series[at].name});
  }
  page.end();
  if (keys.size() > 1)
    addLegend(page, keys);
  if (drawn < all)
    page.element("p",
                 fmt::format("The plot has {} of {} points: the highest and the lowest of "
                             "neighbours.",
                             humanCount(static_cast<std::int64_t>(drawn)),
                             humanCount(static_cast<std::int64_t>(all))),
                 {{"class", "note"}});
}

void addBars(Page& page, const StackedBars& bars, std::size_t limit) {
  double longest = 1;
  for (const StackedBars::Bar& bar : bars.bars)
    longest = std::max(
        longest,
        static_cast<double>(std::accumulate(bar.parts.begin(), bar.parts.end(), std::int64_t{0})));
  page.begin("div", {{"class", "bars"}});
  for (std::size_t at = 0; at < std::min(limit, bars.bars.size()); ++at)
    addBar(page, bars, bars.bars[at], longest);
  page.end();
  if (bars.series.size() > 1 || bars.bars.size() == 1)
    addLegend(page, keysOf(bars));
  if (bars.bars.size() > limit)
    page.element(
        "p", fmt::format("{} more are not drawn.", bars.bars.size() - limit), {{"class", "note"}});
}

}  // namespace sonde::cli
