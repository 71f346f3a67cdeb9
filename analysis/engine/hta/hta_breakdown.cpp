#include "analysis/engine/hta/hta_breakdown.h"

#include "analysis/engine/hta/description.h"
#include "analysis/engine/intervals/intervals.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace sonde::engine::hta {
namespace {

using metrics::Interval;
using metrics::Intervals;

Intervals unionOf(const RankEvents& rank, EventType type) {
  Intervals intervals;
  for (const Event& event : rank.events)
    if (event.type == type)
      intervals.push_back({event.begin, event.end});
  return metrics::normalise(std::move(intervals));
}

using TypeUnions = std::array<Intervals, kSummedTypes>;

// The time in which exactly the types in `set` (bits) ran.
Intervals exactly(const TypeUnions& unions, unsigned set) {
  Intervals result;
  bool isFirst = true;
  for (std::size_t type = 0; type < kSummedTypes; ++type)
    if ((set & 1U << type) != 0) {
      result = isFirst ? unions[type] : metrics::intersect(result, unions[type]);
      isFirst = false;
    }
  for (std::size_t type = 0; type < kSummedTypes; ++type)
    if ((set & 1U << type) == 0)
      result = metrics::subtract(result, unions[type]);
  return result;
}

std::string nameOf(unsigned set) {
  std::string name;
  for (std::size_t type = 0; type < kSummedTypes; ++type)
    if ((set & 1U << type) != 0)
      name.append(name.empty() ? "" : " overlapping ").append(word(static_cast<EventType>(type)));
  return name;
}

KernelTime summed(std::string name, EventType type, const std::vector<double>& values) {
  KernelTime row;
  row.name = std::move(name);
  row.type = type;
  double sum = 0;
  for (const double value : values)
    sum += value;
  row.sum = static_cast<std::int64_t>(sum);
  row.max = static_cast<std::int64_t>(*std::max_element(values.begin(), values.end()));
  row.min = static_cast<std::int64_t>(*std::min_element(values.begin(), values.end()));
  row.mean = meanOf(values);
  row.deviation = deviationOf(values).value_or(0);
  return row;
}

constexpr std::size_t kMostKernels = 10;
constexpr double kMostOfTheSum = 0.8;

// Requires: `rows` are ordered by sum, greatest first.
std::vector<KernelTime> withOthers(const std::vector<KernelTime>& rows) {
  std::vector<double> running;
  running.reserve(rows.size());
  for (const KernelTime& row : rows)
    running.push_back((running.empty() ? 0 : running.back()) + static_cast<double>(row.sum));
  const double limit = interpolated(running, kMostOfTheSum);
  std::vector<KernelTime> result;
  std::vector<double> others;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const std::vector<double> sum = {static_cast<double>(rows[at].sum)};
    if (at >= kMostKernels || running[at] > limit)
      others.push_back(sum.front());
    else
      result.push_back(summed(rows[at].name, rows[at].type, sum));
  }
  if (!others.empty())
    result.push_back(summed("others", rows.front().type, others));
  return result;
}

// The last long collective for a rank, stream, step and name.
struct LastCollective {
  double begin = 0;  // in units of the mean step
  double length = 0;
};
using StreamName = std::pair<std::int64_t, std::string>;
using ByRank = std::map<std::size_t, LastCollective>;  // place in `ranks`
using ByStep = std::map<std::int64_t, ByRank>;         // number
using LastCollectives = std::map<StreamName, ByStep>;

std::optional<std::int64_t> stepOf(const RankEvents& rank, const Event& event) {
  if (!event.call)
    return std::nullopt;
  const auto after =
      std::upper_bound(rank.steps.begin(),
                       rank.steps.end(),
                       event.call->begin,
                       [](std::int64_t at, const Step& step) { return at < step.begin; });
  if (after == rank.steps.begin() || event.call->begin >= std::prev(after)->end)
    return std::nullopt;
  return std::prev(after)->number;
}

// From the first begin of a step to the last end of anything that belongs to a step.
Interval stepsOf(const std::vector<RankEvents>& ranks) {
  Interval all{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  for (const RankEvents& rank : ranks) {
    for (const Step& step : rank.steps) {
      all.begin = std::min(all.begin, step.begin);
      all.end = std::max(all.end, step.lastEnd);
    }
    for (const Event& event : rank.events)
      if (stepOf(rank, event))
        all.end = std::max(all.end, event.end);
  }
  return all;
}

std::size_t countSteps(const std::vector<RankEvents>& ranks) {
  std::map<std::int64_t, bool> numbers;
  for (const RankEvents& rank : ranks)
    for (const Step& step : rank.steps)
      numbers[step.number] = true;
  return numbers.size();
}

LastCollectives lastCollectives(const std::vector<RankEvents>& ranks) {
  constexpr double kLeastOfAStep = 0.01;
  LastCollectives last;
  const Interval all = stepsOf(ranks);
  const double mean =
      static_cast<double>(all.end - all.begin) / static_cast<double>(countSteps(ranks));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (const Event& event : ranks[rank].events) {
      const bool isNccl =
          event.name.starts_with("ncclKernel") || event.name.starts_with("ncclDevKernel");
      const auto length = static_cast<double>(event.length());
      const auto step = stepOf(ranks[rank], event);
      if (!isNccl || event.stream <= 0 || length < mean * kLeastOfAStep || step.value_or(0) <= 0)
        continue;
      last[{event.stream, event.name}][*step][rank] = {
          static_cast<double>(event.begin - all.begin) / mean, length / mean};
    }
  return last;
}

// How much lengths differ between ranks: the mean over steps of their deviation. Unset for one
// rank.
std::optional<double> differenceOf(const ByStep& steps) {
  std::vector<double> deviations;
  for (const auto& [number, byRank] : steps) {
    std::vector<double> lengths;
    for (const auto& [rank, collective] : byRank)
      lengths.push_back(collective.length);
    if (const auto deviation = deviationOf(lengths))
      deviations.push_back(*deviation);
  }
  return deviations.empty() ? std::nullopt : std::optional(meanOf(deviations));
}

const ByStep* mostDifferent(const LastCollectives& last) {
  const ByStep* chosen = nullptr;
  double most = -1;
  for (const auto& [key, steps] : last)
    if (const auto difference = differenceOf(steps); difference && *difference > most) {
      most = *difference;
      chosen = &steps;
    }
  return chosen;
}

}  // namespace

Temporal temporalOf(const RankEvents& rank) {
  Temporal time;
  Intervals all;
  for (const Event& event : rank.events)
    all.push_back({event.begin, event.end});
  if (all.empty())
    return time;
  Interval span = all.front();
  for (const Interval& each : all)
    span = {std::min(span.begin, each.begin), std::max(span.end, each.end)};
  time.kernelTime = span.end - span.begin;
  time.idle = time.kernelTime - metrics::totalLength(metrics::normalise(std::move(all)));
  time.compute = metrics::totalLength(unionOf(rank, EventType::Computation));
  time.communication = metrics::totalLength(unionOf(rank, EventType::Communication));
  time.memory = metrics::totalLength(unionOf(rank, EventType::Memory));
  return time;
}

std::optional<double> overlapOf(const RankEvents& rank) {
  const Intervals communication = unionOf(rank, EventType::Communication);
  const std::int64_t all = metrics::totalLength(communication);
  if (all == 0)
    return std::nullopt;
  const Intervals both = metrics::intersect(communication, unionOf(rank, EventType::Computation));
  return static_cast<double>(metrics::totalLength(both)) / static_cast<double>(all);
}

std::vector<TypeTime> typeTimes(const std::vector<RankEvents>& ranks) {
  std::array<std::int64_t, std::size_t{1} << kSummedTypes> sums{};
  std::int64_t all = 0;
  for (const RankEvents& rank : ranks) {
    const TypeUnions unions = {unionOf(rank, EventType::Computation),
                               unionOf(rank, EventType::Communication),
                               unionOf(rank, EventType::Memory)};
    for (unsigned set = 1; set < sums.size(); ++set) {
      const std::int64_t length = metrics::totalLength(exactly(unions, set));
      sums[set] += length;
      all += length;
    }
  }
  std::vector<TypeTime> rows;
  for (unsigned set = 1; set < sums.size(); ++set)
    if (sums[set] > 0)
      rows.push_back(
          {nameOf(set), sums[set], static_cast<double>(sums[set]) / static_cast<double>(all)});
  std::stable_sort(
      rows.begin(), rows.end(), [](const TypeTime& a, const TypeTime& b) { return a.sum > b.sum; });
  return rows;
}

std::vector<KernelTime> kernelTimes(const RankEvents& rank) {
  std::vector<KernelTime> result;
  for (std::size_t at = 0; at < kSummedTypes; ++at) {
    const auto type = static_cast<EventType>(at);
    std::map<std::string, std::vector<double>> byName;
    for (const Event& event : rank.events)
      if (event.type == type)
        byName[event.name].push_back(static_cast<double>(event.length()));
    std::vector<KernelTime> rows;
    rows.reserve(byName.size());
    for (const auto& [name, lengths] : byName)
      rows.push_back(summed(name, type, lengths));
    std::stable_sort(rows.begin(), rows.end(), [](const KernelTime& a, const KernelTime& b) {
      return a.sum > b.sum;
    });
    if (rows.size() > kMostKernels)
      rows = withOthers(rows);
    result.insert(result.end(), rows.begin(), rows.end());
  }
  std::stable_sort(result.begin(), result.end(), [](const KernelTime& a, const KernelTime& b) {
    return std::pair(word(a.type), std::string_view(a.name)) <
           std::pair(word(b.type), std::string_view(b.name));
  });
  return result;
}

std::vector<std::int64_t> stragglersOf(const std::vector<RankEvents>& ranks) {
  constexpr std::size_t kCandidates = 2;
  const LastCollectives last = lastCollectives(ranks);
  const ByStep* chosen = mostDifferent(last);
  if (chosen == nullptr)
    return {};
  std::map<std::size_t, std::int64_t> times;  // steps in which a rank was among the latest
  for (const auto& [number, byRank] : *chosen) {
    std::vector<double> begins;
    for (const auto& [rank, collective] : byRank)
      begins.push_back(collective.begin);
    std::sort(begins.rbegin(), begins.rend());
    const double threshold = begins[std::min(kCandidates, begins.size()) - 1];
    for (const auto& [rank, collective] : byRank)
      times[rank] += collective.begin >= threshold ? 1 : 0;
  }
  std::vector<std::pair<std::size_t, std::int64_t>> order(times.begin(), times.end());
  std::stable_sort(
      order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  order.resize(std::min(order.size(), kCandidates));
  std::vector<std::int64_t> found;
  found.reserve(order.size());
  for (const auto& [rank, count] : order)
    found.push_back(ranks[rank].process.rank.value_or(static_cast<std::int64_t>(rank)));
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace sonde::engine::hta
