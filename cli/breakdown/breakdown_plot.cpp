#include "cli/breakdown/breakdown_plot.h"

#include "analysis/export/output_file.h"
#include "analysis/store/scratch.h"
#include "cli/breakdown/breakdown_names.h"
#include "cli/text/png_picture.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sonde::cli {
namespace {

namespace breakdown = engine::breakdown;
using breakdown::Breakdown;
using breakdown::Group;
using breakdown::Row;
using exports::BarChart;

constexpr std::size_t kLeastGroups = 8;
constexpr double kSmall = 0.001;  // as a share of all time; several smaller ones are joined

// The key of a group of bars: all dimensions except processes and what is stacked.
Group barsOf(Group group) {
  group.processId.reset();
  group.categories.clear();
  group.resource.reset();
  return group;
}

std::string threadText(const breakdown::ThreadName& thread) {
  return fmt::format("thread {}{}{}", thread.tid, thread.name.empty() ? "" : " ", thread.name);
}

// Contains each requested dimension, to distinguish the phase "train" from the operation "train".
std::string labelOf(const Group& group, const Breakdown& result, const breakdown::Dimensions& by) {
  std::vector<std::string> parts;
  bool isOutside = !group.iteration;
  const auto add = [&](bool isAsked, const std::vector<std::string>& names) {
    isOutside &= names.empty();
    if (isAsked)
      parts.push_back(joined(names));
  };
  add(by.phase, group.phases);
  add(by.operation, group.operations);
  add(by.module, group.modules);
  if (by.iteration)
    parts.push_back(group.iteration ? fmt::format("iteration {}", *group.iteration) : "-");
  if (isOutside && !parts.empty())
    parts = {"(outside of all)"};
  if (group.threadId)
    parts.push_back(threadText(result.threads.at(*group.threadId)));
  return parts.empty() ? "all" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string seriesOf(const Group& group) {
  if (!group.categories.empty())
    return fmt::format("{}", fmt::join(group.categories, " + "));
  return group.resource ? std::string(breakdown::word(*group.resource)) : "time";
}

// Ranks things by time, longest first, and assigns places. Short ones, and the last of many, share
// one place at the end.
template <typename Thing>
struct Ranking {
  std::map<Thing, std::size_t> places;
  std::vector<Thing> shown;  // with places of their own
  std::size_t joined = 0;    // number of things in the shared last place; 0: no such place

  // `before`: the order of things with their own places; nullptr: by rank.
  static Ranking of(const std::map<Thing, std::int64_t>& times,
                    std::size_t most,
                    std::int64_t leastNs,
                    bool (*before)(const Thing&, const Thing&) = nullptr) {
    std::vector<std::pair<std::int64_t, Thing>> sorted;
    sorted.reserve(times.size());
    for (const auto& [thing, ns] : times)
      sorted.emplace_back(-ns, thing);
    std::sort(sorted.begin(), sorted.end());
    std::size_t alone = std::min(sorted.size(), most);
    while (alone > 0 && -sorted[alone - 1].first < leastNs)
      --alone;
    if (sorted.size() == alone + 1)
      ++alone;  // a single other keeps its own place
    Ranking ranking;
    ranking.joined = sorted.size() - alone;
    if (before != nullptr)
      std::stable_sort(sorted.begin(),
                       sorted.begin() + static_cast<std::ptrdiff_t>(alone),
                       [&](const auto& a, const auto& b) { return before(a.second, b.second); });
    for (std::size_t at = 0; at < sorted.size(); ++at) {
      ranking.places[sorted[at].second] = std::min(at, alone);
      if (at < alone)
        ranking.shown.push_back(sorted[at].second);
    }
    return ranking;
  }

  // The names of all places.
  template <typename Name>
  std::vector<std::string> names(Name name) const {
    std::vector<std::string> all;
    for (const Thing& thing : shown)
      all.push_back(name(thing));
    if (joined > 0)
      all.push_back(fmt::format("{} others", joined));
    return all;
  }
};

// Orders by iteration; outside of all iterations comes last.
bool isEarlier(const Group& a, const Group& b) {
  return a.iteration && (!b.iteration || *a.iteration < *b.iteration);
}

// The processes as bars of a group. If there are many, the last ones form one bar with their mean.
struct ProcessBars {
  std::map<std::int64_t, std::size_t> places;  // by id
  std::vector<std::string> labels;
  std::vector<std::int64_t> counts;  // number of processes in each

  static ProcessBars of(const Breakdown& result) {
    ProcessBars bars;
    std::set<std::int64_t> ids;
    for (const Row& row : result.rows)
      if (row.group.processId)
        ids.insert(*row.group.processId);
    if (ids.empty())
      return {{}, {""}, {1}};
    const ProcessNames names = namesOf(result);
    const std::size_t alone = ids.size() > kMostProcesses ? kMostProcesses - 1 : ids.size();
    for (const breakdown::ProcessTotal& process : result.processes) {
      if (!ids.contains(process.id))
        continue;
      const std::size_t place = std::min(bars.places.size(), alone);
      bars.places.emplace(process.id, place);
      if (place < alone) {
        bars.labels.push_back(ids.size() > 1 ? names.at(process.id) : "");
        bars.counts.push_back(1);
      }
    }
    if (ids.size() > alone) {
      bars.counts.push_back(static_cast<std::int64_t>(ids.size() - alone));
      bars.labels.push_back(fmt::format("{} others, mean", bars.counts.back()));
    }
    return bars;
  }
  std::size_t placeOf(const Group& group) const {
    return group.processId ? places.at(*group.processId) : 0;
  }
};

class Plot {
 public:
  Plot(const Breakdown& rows, const Breakdown& bars, const breakdown::Dimensions& by)
      : rows_(rows), bars_(bars), by_(by) {
    std::map<std::string, std::int64_t> series;
    std::map<Group, std::int64_t> groups;
    for (const Row& row : rows.rows) {
      series[seriesOf(row.group)] += row.ns;
      groups[barsOf(row.group)] += row.ns;
    }
    processes_ = ProcessBars::of(rows);
    const std::size_t most = std::max(kMostBars / processes_.labels.size(), kLeastGroups);
    // If there are many iterations each is small, and none is less important than the others.
    const double least = by.iteration ? 0 : kSmall * static_cast<double>(rows.totalNs);
    groups_ = Ranking<Group>::of(groups, most, static_cast<std::int64_t>(least), isEarlier);
    series_ = Ranking<std::string>::of(series, exports::kMostSeries, 0);
  }

  BarChart chart() const {
    BarChart chart;
    chart.corrected = rows_.corrected;
    chart.series = series_.names([](const std::string& series) { return series; });
    chart.lastIsRest = series_.joined > 0;
    const auto labels =
        groups_.names([this](const Group& group) { return labelOf(group, rows_, by_); });
    for (const std::string& label : labels) {
      BarChart::Group& group = chart.groups.emplace_back();
      group.label = label;
      for (const std::string& process : processes_.labels) {
        group.bars.emplace_back();
        group.bars.back().label = process;
        for (std::size_t series = 0; series < chart.series.size(); ++series)
          group.bars.back().parts.push_back({series, 0, 0});
      }
    }
    for (const Row& row : rows_.rows) {
      BarChart::Part& part = barOf(row, chart).parts[series_.places.at(seriesOf(row.group))];
      part.ns += row.ns;
      part.rawNs += row.rawNs;
    }
    for (const Row& row : bars_.rows) {
      BarChart::Bar& bar = barOf(row, chart);
      bar.ns += row.ns;
      bar.rawNs += row.rawNs;
      bar.lowNs += row.lowNs;
      bar.highNs += row.highNs;
    }
    divide(chart);
    return chart;
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    if (rows_.corrected)
      notes.emplace_back(
          "Full bars: corrected times; the line on them holds 95 % of the errors. Pale bars: times "
          "as recorded. No bar is rescaled.");
    else
      notes.emplace_back("Times are as recorded.");
    if (groups_.joined > 0)
      notes.push_back(fmt::format("{} small bars are joined{}.",
                                  groups_.joined,
                                  rows_.corrected ? ", and their intervals added" : ""));
    if (!processes_.counts.empty() && processes_.counts.back() > 1)
      notes.push_back(fmt::format("There are {} processes. The last {} are one bar, their mean.",
                                  processes_.places.size(),
                                  processes_.counts.back()));
    if (rows_.maskedNs > 0)
      notes.push_back(
          fmt::format("{} are left out: iterations that were recorded in part, or during which the "
                      "recorder stored records.",
                      humanDuration(rows_.maskedNs)));
    return notes;
  }

 private:
  BarChart::Bar& barOf(const Row& row, BarChart& chart) const {
    return chart.groups[groups_.places.at(barsOf(row.group))].bars[processes_.placeOf(row.group)];
  }

  // A bar for several processes shows their mean.
  void divide(BarChart& chart) const {
    for (BarChart::Group& group : chart.groups)
      for (std::size_t at = 0; at < group.bars.size(); ++at) {
        const std::int64_t by = processes_.counts[at];
        BarChart::Bar& bar = group.bars[at];
        for (std::int64_t* const ns : {&bar.ns, &bar.rawNs, &bar.lowNs, &bar.highNs})
          *ns /= by;
        for (BarChart::Part& part : bar.parts) {
          part.ns /= by;
          part.rawNs /= by;
        }
      }
  }

  const Breakdown& rows_;
  const Breakdown& bars_;
  const breakdown::Dimensions& by_;
  ProcessBars processes_;
  Ranking<Group> groups_;
  Ranking<std::string> series_;
};

std::string titleOf(const Breakdown& result,
                    const breakdown::Dimensions& by,
                    const std::vector<std::string>& traces) {
  std::string names = fmt::format("{}", fmt::join(traces, ", "));
  return fmt::format("{}: {} of {}, {} {}",
                     cutTo(names, 80),
                     humanDuration(result.totalNs),
                     by.thread ? "threads' time" : "wall time",
                     result.processes.size(),
                     result.processes.size() == 1 ? "process" : "processes");
}

enum class PictureForm { Svg, Png };

std::optional<PictureForm> formOf(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& each : ending)
    each = each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
  if (ending == ".svg")
    return PictureForm::Svg;
  return ending == ".png" ? std::optional(PictureForm::Png) : std::nullopt;
}

}  // namespace

Result<void> checkPlotName(const std::string& path) {
  if (formOf(path))
    return {};
  return Error{
      ErrorCode::InvalidArgument,
      fmt::format("'{}' does not end in .svg or .png: give --plot a name that does", path)};
}

Result<void> writePlot(const BarChart& chart, const std::string& path, bool replace) {
  const store::Scratch scratch(store::unfinishedTrace(path, replace));
  SONDE_TRY_ASSIGN(exports::OutputFile output, exports::OutputFile::create(path, replace));
  std::string picture = exports::svgOf(chart);
  if (formOf(path) == PictureForm::Png) {
    SONDE_TRY_ASSIGN(picture, pngOf(picture));
  }
  SONDE_TRY(output.write(picture));
  return output.finish();
}

BarChart plotOf(const Breakdown& rows,
                const Breakdown& bars,
                const breakdown::Dimensions& by,
                const std::vector<std::string>& traces) {
  const Plot plot(rows, bars, by);
  BarChart chart = plot.chart();
  chart.title = titleOf(rows, by, traces);
  chart.notes = plot.notes();
  return chart;
}

}  // namespace sonde::cli
