#include "analysis/engine/iterations/periodic.h"

#include "analysis/store/read_rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace sonde::engine::iterations {
namespace {

constexpr std::size_t kLeastRepetitions = 3;
constexpr double kLeastScore = 0.8;
constexpr std::size_t kMostPeriods = 64;  // that are tried

using Places = std::vector<std::size_t>;  // of one name, in order

Places distancesOf(const Places& places) {
  Places distances;
  for (std::size_t i = 1; i < places.size(); ++i)
    distances.push_back(places[i] - places[i - 1]);
  return distances;
}

std::size_t medianOf(Places values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The share of the names that come again `period` later, in whole per cent.
int scoreOf(const std::vector<std::int64_t>& names, std::size_t period) {
  std::size_t same = 0;
  for (std::size_t i = period; i < names.size(); ++i)
    if (names[i] == names[i - period])
      ++same;
  return static_cast<int>(100 * same / (names.size() - period));
}

// The distances at which names come again; those of the rarest names first.
std::vector<std::size_t> candidatesOf(const std::unordered_map<std::int64_t, Places>& places) {
  std::set<std::pair<std::size_t, std::size_t>> ordered;  // how often, distance
  for (const auto& [name, all] : places)
    if (all.size() > kLeastRepetitions)
      ordered.emplace(all.size(), medianOf(distancesOf(all)));
  std::vector<std::size_t> candidates;
  for (const auto& [count, distance] : ordered)
    if (std::find(candidates.begin(), candidates.end(), distance) == candidates.end() &&
        candidates.size() < kMostPeriods)
      candidates.push_back(distance);
  return candidates;
}

// Whether the name comes once in each repetition.
bool isOncePerPeriod(const Places& places, std::size_t period) {
  const Places distances = distancesOf(places);
  const auto regular = std::count_if(distances.begin(), distances.end(), [&](std::size_t each) {
    return each * 10 >= period * 9 && each * 10 <= period * 11;
  });
  return places.size() > kLeastRepetitions &&
         static_cast<double>(regular) >= kLeastScore * static_cast<double>(distances.size());
}

std::int64_t pauseBefore(const Places& places, const std::vector<std::int64_t>& pauses) {
  std::vector<std::int64_t> all;
  for (const std::size_t place : places)
    all.push_back(pauses[place]);
  std::nth_element(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

// A call that a thread made, with the name of what it launched.
struct Call {
  std::int64_t processId = 0;
  std::int64_t threadId = 0;
  std::int64_t nameId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;

  SONDE_COLUMNS(processId, threadId, nameId, startNs, endNs)
};

constexpr const char* kLaunches =
    "SELECT t.process_id, s.thread_id, k.name_id, s.start_ns, s.start_ns + s.dur_ns AS end_ns FROM "
    "kernel k JOIN slice s ON s.id = k.launch_slice_id JOIN thread t ON t.id = s.thread_id WHERE "
    "s.dur_ns >= 0 ORDER BY t.process_id, s.thread_id, s.start_ns, k.id";
constexpr const char* kSlices =
    "SELECT t.process_id, s.thread_id, s.name_id, s.start_ns, s.start_ns + s.dur_ns AS end_ns FROM "
    "slice s JOIN thread t ON t.id = s.thread_id WHERE s.parent_id IS NULL AND s.lane = 0 AND "
    "s.dur_ns > 0 AND t.process_id NOT IN (SELECT r.process_id FROM kernel k JOIN stream r ON r.id "
    "= k.stream_id) ORDER BY t.process_id, s.thread_id, s.start_ns, s.id";

using Calls = std::vector<Call>;  // of one thread

void addIterations(const Calls& calls, std::vector<Iteration>& into) {
  std::vector<std::int64_t> names;
  std::vector<std::int64_t> pauses;
  for (const Call& each : calls) {
    pauses.push_back(names.empty() ? 0 : each.startNs - calls[names.size() - 1].endNs);
    names.push_back(each.nameId);
  }
  const std::optional<Period> period = periodOf(names, pauses);
  if (!period)
    return;
  for (std::size_t i = 0; i + 1 < period->begins.size(); ++i) {
    const Call& first = calls[period->begins[i]];
    const Call& next = calls[period->begins[i + 1]];
    Iteration iteration;
    iteration.processId = first.processId;
    iteration.threadId = first.threadId;
    iteration.number = static_cast<std::int64_t>(i);
    iteration.startNs = first.startNs;
    iteration.durNs = next.startNs - first.startNs;
    into.push_back(iteration);
  }
}

}  // namespace

std::optional<Period> periodOf(const std::vector<std::int64_t>& names,
                               const std::vector<std::int64_t>& pauses) {
  std::unordered_map<std::int64_t, Places> places;
  for (std::size_t i = 0; i < names.size(); ++i)
    places[names[i]].push_back(i);
  std::pair<int, std::size_t> best{0, 0};  // score, period
  for (const std::size_t period : candidatesOf(places))
    if (period * kLeastRepetitions <= names.size()) {
      const int score = scoreOf(names, period);
      if (score > best.first || (score == best.first && period < best.second))
        best = {score, period};
    }
  const std::size_t length = best.second;
  if (best.first < 100 * kLeastScore)
    return std::nullopt;
  const Places* first = nullptr;
  std::pair<std::int64_t, std::size_t> longest{INT64_MIN, 0};  // pause, place
  for (const auto& [name, all] : places) {
    if (!isOncePerPeriod(all, length))
      continue;
    // The earliest in the series of equal ones.
    const std::pair pause(pauseBefore(all, pauses), names.size() - all.front());
    if (pause > longest) {
      longest = pause;
      first = &all;
    }
  }
  if (first == nullptr)
    return std::nullopt;
  return Period{length, *first};
}

Result<std::vector<Iteration>> readPeriodic(const store::Database& trace) {
  std::map<std::int64_t, Calls> busiest;  // by process
  Calls current;
  const auto take = [&] {
    if (!current.empty() && current.size() > busiest[current.front().processId].size())
      busiest[current.front().processId] = std::move(current);
    current.clear();
  };
  for (const char* const sql : {kLaunches, kSlices}) {
    SONDE_TRY(store::forEach<Call>(trace, sql, [&](const Call& row) {
      if (!current.empty() && current.front().threadId != row.threadId)
        take();
      current.push_back(row);
    }));
    take();
  }
  std::vector<Iteration> found;
  for (const auto& [process, calls] : busiest)
    addIterations(calls, found);
  return found;
}

}  // namespace sonde::engine::iterations
