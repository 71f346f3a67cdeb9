#include "cli/whatif/answer_plot.h"

#include "analysis/engine/critical/cause_colours.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

namespace critical = engine::critical;
using engine::whatif::ChangedShare;

using Shares = std::map<critical::PathCause, double>;

Shares sharesOf(const std::vector<ChangedShare>& path) {
  Shares shares;
  for (const ChangedShare& each : path)
    shares[each.cause] += each.share;
  return shares;
}

exports::BarChart::Bar barOf(const Shares& shares,
                             const std::map<critical::PathCause, std::size_t>& series,
                             double ns) {
  exports::BarChart::Bar bar;
  for (const auto& [cause, share] : shares) {
    const std::int64_t part = std::llround(share * ns);
    bar.parts.push_back({series.at(cause), part, part});
    bar.ns += part;
  }
  bar.lowNs = bar.highNs = bar.rawNs = bar.ns;
  return bar;
}

}  // namespace

exports::BarChart chartOf(const engine::whatif::Answer& answer, const std::string& title) {
  exports::BarChart chart;
  chart.title = title;
  chart.notes = {
      fmt::format("{}, by the causes of its critical path; the interval holds 95 of 100 "
                  "real runs.",
                  answer.iterations > 0 ? "A mean iteration" : "The whole trace")};
  const Shares before = sharesOf(answer.before);
  const Shares after = sharesOf(answer.after);
  std::map<critical::PathCause, std::size_t> series;
  for (const Shares* shares : {&before, &after})
    for (const auto& [cause, share] : *shares)
      series[cause] = 0;
  for (auto& [cause, index] : series) {
    index = chart.series.size();
    chart.series.emplace_back(critical::nameOf(cause));
    chart.colours.emplace_back(critical::kCauseColours.at(static_cast<std::size_t>(cause)));
  }
  chart.groups.push_back({"now", {barOf(before, series, answer.baselineNs)}});
  exports::BarChart::Bar then = barOf(after, series, answer.predictedNs);
  then.lowNs = std::llround(answer.lowNs);
  then.highNs = std::llround(answer.highNs);
  chart.groups.push_back({"then", {std::move(then)}});
  return chart;
}

}  // namespace sonde::cli
