#include "analysis/engine/counters/counter_groups.h"

#include "analysis/store/read_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace sonde::engine::counters {
namespace {

using metrics::Interval;

struct CounterRow {
  std::int64_t id = 0;
  std::int64_t hostId = 0;
  std::string host;
  std::optional<std::int64_t> processId;
  std::optional<std::string> device;
  std::string name;
  std::string unit;
  bool isTotal = false;

  SONDE_COLUMNS(id, hostId, host, processId, device, name, unit, isTotal)
};
constexpr std::string_view kCounters =
    "SELECT c.id, c.host_id, coalesce(h.name, 'host ' || h.id) AS host, c.process_id, d.kind || ' "
    "' || d.ordinal AS device, n.text AS name, c.unit, c.kind = 'total' AS is_total FROM counter c "
    "JOIN host h ON h.id = c.host_id JOIN string n ON n.id = c.name_id LEFT JOIN device d ON d.id "
    "= c.device_id WHERE c.thread_id IS NULL ORDER BY c.host_id, d.ordinal, n.text";

struct SampleRow {
  std::int64_t tsNs = 0;
  double value = 0;

  SONDE_COLUMNS(tsNs, value)
};
constexpr std::string_view kSamples =
    "SELECT ts_ns, value FROM v_sample WHERE counter_id = ?1 AND value NOTNULL ORDER BY ts_ns";

// A counter belongs to the first group whose rule fits. An empty text fits all.
struct GroupRule {
  std::string_view begin;  // of the name
  std::string_view unit;
  CounterGroup group;
};
constexpr GroupRule kGroupRules[] = {
    {"cpu busy", "ns", CounterGroup::Processors},
    {"cpu io wait", "ns", CounterGroup::Processors},
    {"cpu stolen", "ns", CounterGroup::Processors},
    {"cpu time", "ns", CounterGroup::Processors},
    {"cgroup throttled", "ns", CounterGroup::Processors},
    {"cgroup cpu limit", "", CounterGroup::Processors},
    {"pressure ", "ns", CounterGroup::Pressure},
    {"GPU memory used", "", CounterGroup::GpuMemory},
    {"GPU memory busy", "", CounterGroup::Gpu},
    {"GPU busy", "", CounterGroup::Gpu},
    {"allocator ", "bytes", CounterGroup::GpuMemory},
    {"", "W", CounterGroup::Power},
    {"", "J", CounterGroup::Power},
    {"", "C", CounterGroup::Temperature},
    {"", "Hz", CounterGroup::Clocks},
    {"network ", "bytes", CounterGroup::Network},
    {"NVLink ", "bytes", CounterGroup::Links},
    {"PCIe ", "bytes", CounterGroup::Links},
    {"disk ", "bytes", CounterGroup::Disks},
    {"", "bytes", CounterGroup::Memory},
};

CounterGroup groupOf(const CounterRow& row) {
  const auto* const found =
      std::find_if(std::begin(kGroupRules), std::end(kGroupRules), [&](const GroupRule& rule) {
        return std::string_view(row.name).starts_with(rule.begin) &&
               (rule.unit.empty() || rule.unit == row.unit);
      });
  return found == std::end(kGroupRules) ? CounterGroup::Others : found->group;
}

// "cpu 12 busy".
bool isOfOneProcessor(std::string_view name) {
  return name.size() > 4 && name.starts_with("cpu ") && name[4] >= '0' && name[4] <= '9';
}

std::string unitOf(const CounterRow& row) {
  std::string unit = row.unit == "bytes" ? "B" : row.unit;
  if (!row.isTotal)
    return unit;
  return unit == "ns" ? "1" : unit == "J" ? "W" : unit + "/s";
}

// From each sample to the next.
std::vector<CounterPoint> ratesOf(const std::vector<CounterPoint>& totals, bool isTime) {
  std::vector<CounterPoint> rates;
  rates.reserve(totals.size());
  for (std::size_t at = 1; at < totals.size(); ++at)
    if (totals[at].ns > totals[at - 1].ns)
      rates.push_back({totals[at - 1].ns, rateOf(totals[at - 1], totals[at], isTime)});
  if (!rates.empty())
    rates.push_back({totals.back().ns, rates.back().value});
  return rates;
}

// Those in `window`, and the one before and behind it.
std::vector<CounterPoint> within(const std::vector<CounterPoint>& points, const Interval& window) {
  const auto isBefore = [](const CounterPoint& point, std::int64_t ns) { return point.ns < ns; };
  auto begin = std::lower_bound(points.begin(), points.end(), window.begin, isBefore);
  auto end = std::lower_bound(points.begin(), points.end(), window.end, isBefore);
  begin -= begin == points.begin() ? 0 : 1;
  end += end == points.end() ? 0 : 1;
  return {begin, end};
}

// The lowest and the highest of each stretch, in order of time.
std::vector<CounterPoint> thinnedTo(std::vector<CounterPoint> points, std::size_t most) {
  if (points.size() <= 2 * most)
    return points;
  std::vector<CounterPoint> few;
  for (std::size_t stretch = 0; stretch < most; ++stretch) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(stretch * points.size() / most);
    const auto end =
        points.begin() + static_cast<std::ptrdiff_t>((stretch + 1) * points.size() / most);
    auto low = end;
    auto high = end;
    auto gap = end;  // without a value
    for (auto each = begin; each != end; ++each) {
      if (std::isnan(each->value))
        gap = each;
      else if (low == end || each->value < low->value)
        low = each;
      if (!std::isnan(each->value) && (high == end || each->value >= high->value))
        high = each;
    }
    std::array kept = {low, high, gap};
    std::sort(kept.begin(), kept.end());
    for (auto each = kept.begin(); each != kept.end() && *each != end; ++each)
      if (each == kept.begin() || *each != *std::prev(each))
        few.push_back(**each);
  }
  return few;
}

bool isAlwaysZero(const std::vector<CounterPoint>& points) {
  return std::all_of(
      points.begin(), points.end(), [](const CounterPoint& point) { return point.value == 0; });
}

// Groups with a counter for each interface, disk or reason, most of which never count.
bool hasMany(CounterGroup group) {
  return group == CounterGroup::Network || group == CounterGroup::Disks ||
         group == CounterGroup::Links || group == CounterGroup::Pressure ||
         group == CounterGroup::Processors || group == CounterGroup::Others;
}

Result<std::vector<CounterPoint>> readPoints(const store::Database& trace, const CounterRow& row) {
  std::vector<CounterPoint> points;
  SONDE_TRY_ASSIGN(store::Statement samples, trace.prepare(kSamples));
  samples.bindAll(row.id);
  SONDE_TRY(store::forEach<SampleRow>(samples, [&](const SampleRow& sample) {
    points.push_back({sample.tsNs, sample.value});
  }));
  return row.isTotal ? ratesOf(points, row.unit == "ns") : points;
}

// The recorders of several ranks read the counters of their machine, each for itself: the longest
// reading stands for all.
void addTo(CounterChart& chart, CounterSeries series) {
  const auto lengthOf = [](const CounterSeries& of) {
    return of.points.back().ns - of.points.front().ns;
  };
  const auto same =
      std::find_if(chart.series.begin(), chart.series.end(), [&](const CounterSeries& each) {
        return each.name == series.name;
      });
  if (same == chart.series.end())
    chart.series.push_back(std::move(series));
  else if (lengthOf(series) > lengthOf(*same))
    *same = std::move(series);
}

}  // namespace

Result<std::vector<CounterChart>> counterCharts(const store::Database& trace,
                                                const std::vector<metrics::RankProcess>& ranks,
                                                const std::optional<Interval>& window,
                                                std::size_t most) {
  std::map<std::int64_t, std::string> names;  // of ranks, by process
  for (const metrics::RankProcess& rank : ranks)
    names[rank.processId] = rank.name;
  SONDE_TRY_ASSIGN(const auto rows, store::readAll<CounterRow>(trace, kCounters));
  std::map<std::tuple<std::int64_t, CounterGroup, std::string, std::string>, CounterChart> charts;
  for (const CounterRow& row : rows) {
    if (isOfOneProcessor(row.name) || (row.processId && !names.contains(*row.processId)))
      continue;
    SONDE_TRY_ASSIGN(std::vector<CounterPoint> points, readPoints(trace, row));
    const CounterGroup group = groupOf(row);
    if (window)
      points = within(points, *window);
    if (points.empty() || (hasMany(group) && isAlwaysZero(points)))
      continue;
    const std::string name = group == CounterGroup::Others ? row.name : std::string();
    CounterChart& chart = charts[{row.hostId, group, name, row.device.value_or("")}];
    chart.group = group;
    chart.hostId = row.hostId;
    chart.host = row.host;
    chart.device = row.device.value_or("");
    chart.name = name;
    addTo(chart,
          {row.id,
           row.processId ? names.at(*row.processId) + ": " + row.name : row.name,
           unitOf(row),
           row.isTotal,
           thinnedTo(std::move(points), most)});
  }
  std::vector<CounterChart> sorted;
  sorted.reserve(charts.size());
  for (auto& [key, chart] : charts)
    sorted.push_back(std::move(chart));
  return sorted;
}

Result<bool> hasCounters(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t any,
                   trace.queryInteger("SELECT EXISTS (SELECT 1 FROM counter)"));
  return any != 0;
}

}  // namespace sonde::engine::counters
