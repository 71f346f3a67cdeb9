#include "gui/models/ranks/rank_matrix.h"

#include "gui/trace/qtext.h"

#include <QCoreApplication>

#include <limits>

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

RankMatrix rankMatrix(const engine::report::JobReport& report, RankValue value) {
  using Key = std::pair<std::int64_t, std::int64_t>;  // occurrence, number
  std::map<Key, std::size_t> columns;
  for (const RankReport& rank : report.ranks)
    for (const auto& iteration : rank.process.iterations)
      columns.emplace(Key{iteration.occurrence, iteration.number}, 0);
  RankMatrix matrix;
  for (auto& [key, column] : columns) {
    column = matrix.iterations.size();
    matrix.iterations.push_back(QString::number(key.second));
  }
  matrix.values.assign(report.ranks.size() * columns.size(),
                       std::numeric_limits<double>::quiet_NaN());
  for (const RankReport& rank : report.ranks) {
    const std::size_t row = matrix.ranks.size() * columns.size();
    matrix.ranks.push_back(qtext(rank.process.name));
    matrix.numbers.push_back(rank.process.rank);
    for (std::size_t at = 0; at < rank.iterationTimes.size(); ++at) {
      const auto& iteration = rank.process.iterations[at];
      matrix.values[row + columns.at({iteration.occurrence, iteration.number})] =
          valueOf(rank, at, value);
    }
  }
  return matrix;
}

}  // namespace sonde::gui
