#include "rules/facts/counter_facts.h"

#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace sonde::rules {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct CounterRow {
  std::int64_t id = 0;
  std::string name;
  std::string unit;
  std::string kind;
  std::int64_t hostId = 0;
  std::int64_t processId = 0;
  std::int64_t threadId = 0;
  std::int64_t deviceId = 0;
  std::string host;
  std::optional<std::int64_t> rank;
  std::int64_t pid = 0;
  std::int64_t ordinal = 0;
  std::optional<std::int64_t> memoryBytes;
  std::int64_t cpuCount = 0;

  SONDE_COLUMNS(id,
                name,
                unit,
                kind,
                hostId,
                processId,
                threadId,
                deviceId,
                host,
                rank,
                pid,
                ordinal,
                memoryBytes,
                cpuCount)
};

struct SampleRow {
  std::int64_t counterId = 0;
  std::int64_t tsNs = 0;
  std::optional<double> value;

  SONDE_COLUMNS(counterId, tsNs, value)
};

constexpr std::string_view kCounters =
    "SELECT c.id, n.text AS name, c.unit, c.kind, c.host_id, c.process_id, c.thread_id, "
    "c.device_id,"
    " h.name AS host, p.rank, p.pid, d.ordinal, d.memory_bytes, h.cpu_count FROM counter c"
    " JOIN string n ON n.id = c.name_id JOIN host h ON h.id = c.host_id"
    " LEFT JOIN process p ON p.id = c.process_id LEFT JOIN device d ON d.id = c.device_id"
    " ORDER BY c.id";

std::string placeOf(const CounterRow& row) {
  if (row.deviceId != 0)
    return fmt::format("gpu {} of {}", row.ordinal, row.host);
  if (row.processId == 0)
    return row.host;
  return row.rank ? fmt::format("rank {}", *row.rank) : fmt::format("process {}", row.pid);
}

std::int64_t roundUp(std::int64_t ns) {
  const std::int64_t rest = ns % kSecond;
  return rest == 0 ? ns : ns + kSecond - rest;
}

// The integral of a gauge over [begin, end), divided by its length. `at` is the last point at or
// before `begin`, and moves on.
double meanOf(const std::vector<CounterPoint>& points,
              std::size_t& at,
              std::int64_t begin,
              std::int64_t end) {
  double sum = 0;
  std::int64_t from = begin;
  while (at + 1 < points.size() && points[at + 1].ns <= begin)
    ++at;
  while (from < end) {
    const std::int64_t until = at + 1 < points.size() ? std::min(points[at + 1].ns, end) : end;
    sum += points[at].value * static_cast<double>(until - from);
    from = until;
    if (from < end)
      ++at;
  }
  return sum / static_cast<double>(end - begin);
}

// A total's value at that time, on the line between its neighbours.
double valueAt(const std::vector<CounterPoint>& points, std::size_t& at, std::int64_t ns) {
  while (at + 1 < points.size() && points[at + 1].ns <= ns)
    ++at;
  if (at + 1 >= points.size())
    return points.back().value;
  const CounterPoint& left = points[at];
  const CounterPoint& right = points[at + 1];
  return left.value + (right.value - left.value) * static_cast<double>(ns - left.ns) /
                          static_cast<double>(right.ns - left.ns);
}

const CounterSeries* find(const std::vector<CounterSeries>& all,
                          std::string_view name,
                          std::int64_t CounterSeries::*key,
                          std::int64_t id) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const CounterSeries& each) {
    return each.*key == id && each.name == name && each.threadId == 0 &&
           (key != &CounterSeries::hostId || (each.processId == 0 && each.deviceId == 0));
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::int64_t CounterSeries::firstSecondNs() const {
  return roundUp(points.front().ns);
}

std::vector<double> CounterSeries::seconds() const {
  std::vector<double> values;
  if (points.size() < 2)
    return values;
  const double unitsPerOne = unit == "ns" ? 1e9 : 1;
  std::size_t at = 0;
  for (std::int64_t begin = firstSecondNs(); begin + kSecond <= points.back().ns;
       begin += kSecond) {
    if (!isTotal) {
      values.push_back(meanOf(points, at, begin, begin + kSecond));
      continue;
    }
    const double before = valueAt(points, at, begin);
    values.push_back(std::max(0.0, valueAt(points, at, begin + kSecond) - before) / unitsPerOne);
  }
  return values;
}

std::optional<double> CounterSeries::at(std::int64_t ns) const {
  const auto after = std::upper_bound(
      points.begin(), points.end(), ns, [](std::int64_t time, const CounterPoint& each) {
        return time < each.ns;
      });
  return after == points.begin() ? std::nullopt : std::optional(std::prev(after)->value);
}

Result<CounterFacts> CounterFacts::read(const store::Database& trace) {
  CounterFacts facts;
  std::unordered_map<std::int64_t, std::size_t> indexOf;
  SONDE_TRY(store::forEach<CounterRow>(trace, kCounters, [&](const CounterRow& row) {
    indexOf[row.id] = facts.series.size();
    facts.series.push_back({row.name,
                            row.unit,
                            row.kind == "total",
                            row.hostId,
                            row.processId,
                            row.threadId,
                            row.deviceId,
                            placeOf(row),
                            {}});
    facts.processorsOfHost[row.hostId] = row.cpuCount;
    if (row.deviceId != 0)
      facts.devices[row.deviceId] = {placeOf(row), row.hostId, row.memoryBytes};
  }));
  SONDE_TRY(store::forEach<SampleRow>(
      trace, "SELECT counter_id, ts_ns, value FROM sample", [&](const SampleRow& row) {
        if (const auto index = indexOf.find(row.counterId); index != indexOf.end() && row.value)
          facts.series[index->second].points.push_back({row.tsNs, *row.value});
      }));
  std::erase_if(facts.series, [](const CounterSeries& each) { return each.points.empty(); });
  for (CounterSeries& each : facts.series)
    std::stable_sort(each.points.begin(), each.points.end(), [](const auto& a, const auto& b) {
      return a.ns < b.ns;
    });
  return facts;
}

const CounterSeries* CounterFacts::ofDevice(std::int64_t deviceId, std::string_view name) const {
  return find(series, name, &CounterSeries::deviceId, deviceId);
}

const CounterSeries* CounterFacts::ofHost(std::int64_t hostId, std::string_view name) const {
  return find(series, name, &CounterSeries::hostId, hostId);
}

const CounterSeries* CounterFacts::ofProcess(std::int64_t processId, std::string_view name) const {
  return find(series, name, &CounterSeries::processId, processId);
}

}  // namespace sonde::rules
