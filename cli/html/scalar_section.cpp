// The values that the program reported: losses, accuracies, learning rates.
#include "cli/html/html_sections.h"
#include "cli/html/html_table.h"
#include "cli/html/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sonde::cli {
namespace {

constexpr std::size_t kScalarPlots = 12;
constexpr std::size_t kScalarRanks = 8;

LinePlot scalarPlot(const std::string& name, const std::vector<const ScalarCurve*>& curves) {
  LinePlot plot;
  plot.title = name + ", by iteration";
  plot.xTitle = "iteration";
  plot.yKind = ColumnKind::Real;
  plot.fromZero = false;
  plot.isSmall = true;
  for (std::size_t at = 0; at < std::min(curves.size(), kScalarRanks); ++at) {
    LinePlot::Series& series = plot.series.emplace_back();
    series.name = curves[at]->process;
    for (const ScalarCurve::Value& each : curves[at]->values)
      series.points.push_back({static_cast<double>(each.iteration), each.value});
  }
  return plot;
}

void addCurves(Page& page, const std::string& name, const std::vector<const ScalarCurve*>& curves) {
  page.begin("div").element("h3", name);
  addPlot(page, scalarPlot(name, curves));
  if (curves.size() > kScalarRanks)
    page.element("p",
                 fmt::format("{} more ranks are not drawn.", curves.size() - kScalarRanks),
                 {{"class", "note"}});
  page.end();
}

}  // namespace

bool addScalars(Page& page, const HtmlValues& values) {
  std::map<std::string, std::vector<const ScalarCurve*>> byName;
  for (const ScalarCurve& curve : values.scalars)
    byName[curve.name].push_back(&curve);
  if (byName.empty())
    return false;
  beginSection(page, "values", "Losses and other values");
  page.begin("div", {{"class", "small"}});
  std::size_t drawn = 0;
  for (const auto& [name, curves] : byName)
    if (drawn++ < kScalarPlots)
      addCurves(page, name, curves);
  page.end();
  if (byName.size() > kScalarPlots)
    page.element("p",
                 fmt::format("{} more values are not drawn.", byName.size() - kScalarPlots),
                 {{"class", "note"}});
  page.end();
  return true;
}

}  // namespace sonde::cli
