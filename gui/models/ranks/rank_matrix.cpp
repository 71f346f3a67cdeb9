#include "gui/models/ranks/rank_matrix.h"

#include "gui/trace/qtext.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace sonde::gui {
namespace {

using engine::report::RankReport;

double valueOf(const RankReport& rank, std::size_t at, RankValue value) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (value == RankValue::Time)
    return static_cast<double>(rank.iterationTimes[at].ns);
  if (at >= rank.stepTimes.size())
    return kNone;
  const auto& time = rank.stepTimes[at];
  if (value == RankValue::Communication)
    return static_cast<double>(time.computeKnown ? time.exposedNs : time.commNs);
  return time.computeKnown ? static_cast<double>(time.idleNs) : kNone;
}

}  // namespace

QString titleOf(RankValue value) {
  constexpr const char* kTitles[] = {
      "time of the iteration", "communication that computing does not hide", "idle time"};
  return QCoreApplication::translate("Ranks", kTitles[static_cast<std::size_t>(value)]);
}

std::set<IterationKey> iterationsIn(const Skeleton& skeleton,
                                    const engine::metrics::Interval& within) {
  std::map<std::pair<int, std::int64_t>, std::int64_t> occurrences;  // by process and number
  std::set<IterationKey> keys;
  for (const IterationInfo& each : skeleton.iterations) {
    const std::int64_t occurrence = occurrences[{each.process, each.number}]++;
    if (each.startNs < within.end && endOf(each, skeleton.endNs) > within.begin)
      keys.insert({occurrence, each.number});
  }
  return keys;
}

const IterationInfo* iterationOf(const Skeleton& skeleton,
                                 std::int64_t processId,
                                 const IterationKey& key) {
  std::int64_t occurrence = 0;
  for (const IterationInfo& each : skeleton.iterations)
    if (each.number == key.number &&
        skeleton.processes.at(static_cast<std::size_t>(each.process)).id == processId &&
        occurrence++ == key.occurrence)
      return &each;
  return nullptr;
}

RankMatrix rankMatrix(const engine::report::JobReport& report,
                      RankValue value,
                      const std::optional<std::set<IterationKey>>& only) {
  std::map<IterationKey, std::size_t> columns;
  for (const RankReport& rank : report.ranks)
    for (const auto& iteration : rank.process.iterations)
      if (const IterationKey key{iteration.occurrence, iteration.number};
          !only || only->contains(key))
        columns.emplace(key, 0);
  RankMatrix matrix;
  for (auto& [key, column] : columns) {
    column = matrix.iterations.size();
    matrix.iterations.push_back(QString::number(key.number));
    matrix.keys.push_back(key);
  }
  matrix.values.assign(report.ranks.size() * columns.size(),
                       std::numeric_limits<double>::quiet_NaN());
  for (const RankReport& rank : report.ranks) {
    const std::size_t row = matrix.ranks.size() * columns.size();
    matrix.ranks.push_back(qtext(rank.process.name));
    matrix.numbers.push_back(rank.process.rank);
    for (std::size_t at = 0; at < rank.iterationTimes.size(); ++at) {
      const auto& iteration = rank.process.iterations[at];
      if (const auto column = columns.find({iteration.occurrence, iteration.number});
          column != columns.end())
        matrix.values[row + column->second] = valueOf(rank, at, value);
    }
  }
  return matrix;
}

RankValue tellingValue(const engine::report::JobReport& report) {
  constexpr double kEqual = 0.02;  // of an iteration
  const RankMatrix times = rankMatrix(report, RankValue::Time);
  const std::size_t columns = times.iterations.size();
  std::vector<double> spreads;
  for (std::size_t column = 0; column < columns; ++column) {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (std::size_t at = column; at < times.values.size(); at += columns)
      if (std::isfinite(times.values[at])) {
        low = std::min(low, times.values[at]);
        high = std::max(high, times.values[at]);
      }
    if (high > 0)
      spreads.push_back((high - low) / high);
  }
  if (spreads.empty())
    return RankValue::Time;
  const auto median = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / 2);
  std::nth_element(spreads.begin(), median, spreads.end());
  const RankMatrix idle = rankMatrix(report, RankValue::Idle);
  const bool isIdleKnown = std::any_of(
      idle.values.begin(), idle.values.end(), [](double ns) { return std::isfinite(ns); });
  return times.ranks.size() > 1 && *median < kEqual && isIdleKnown ? RankValue::Idle
                                                                   : RankValue::Time;
}

}  // namespace sonde::gui
