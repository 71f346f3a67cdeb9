#include "gui/models/training/training_values.h"

#include "analysis/engine/intervals/time_range.h"
#include "analysis/engine/metrics/ranks.h"
#include "gui/trace/qtext.h"

#include <QCoreApplication>

#include <algorithm>
#include <limits>

namespace sonde::gui {
namespace {

namespace training = engine::training;

constexpr std::size_t kMostRidges = 40;
constexpr std::size_t kRidgeBins = 100;

QString tr(const char* text) {
  return QCoreApplication::translate("Training", text);
}

using Within = std::optional<engine::metrics::Interval>;

template <typename Point>
void limitTo(const Within& within, std::vector<Point>& points) {
  std::erase_if(
      points, [&](const Point& point) { return !engine::metrics::sharesTime(point.time, within); });
}

void limitTo(const Within& within, std::vector<training::ScalarSeries>& all) {
  for (training::ScalarSeries& series : all)
    limitTo(within, series.points);
}

}  // namespace

Result<TrainingNames> readTrainingNames(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const auto ranks, engine::metrics::readRanks(trace));
  TrainingNames names;
  SONDE_TRY_ASSIGN(names.scalars, training::scalarNames(trace));
  SONDE_TRY_ASSIGN(names.tensors, training::tensorNames(trace, ranks));
  return names;
}

Result<TrainingSeries> readTrainingSeries(const store::Database& trace,
                                          const TrainingChoice& choice) {
  SONDE_TRY_ASSIGN(const auto ranks, engine::metrics::readRanks(trace));
  TrainingSeries series;
  for (const std::string& name : choice.scalars) {
    SONDE_TRY_ASSIGN(auto of, training::scalarSeries(trace, ranks, name));
    limitTo(choice.within, of);
    series.scalars.emplace_back(name, std::move(of));
  }
  if (choice.tensor) {
    SONDE_TRY_ASSIGN(series.tensor, training::tensorPoints(trace, *choice.tensor));
    limitTo(choice.within, series.tensor);
    series.ridges = training::ridgesOf(series.tensor, kMostRidges, kRidgeBins);
  }
  SONDE_TRY_ASSIGN(series.iterations, training::iterationSeries(trace, ranks));
  limitTo(choice.within, series.iterations);
  return series;
}

std::pair<double, double> iterationRange(const TrainingSeries& series) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const auto add = [&](std::int64_t iteration) {
    low = std::min(low, static_cast<double>(iteration));
    high = std::max(high, static_cast<double>(iteration));
  };
  const auto addAll = [&](const std::vector<training::ScalarSeries>& all) {
    for (const auto& each : all)
      for (const auto& point : each.points)
        add(point.iteration);
  };
  addAll(series.iterations);
  for (const auto& [name, all] : series.scalars)
    addAll(all);
  for (const auto& point : series.tensor)
    add(point.iteration);
  return low < high ? std::pair(low, high)
                    : std::pair(low <= high ? low : 0, low <= high ? low + 1 : 1);
}

std::vector<ValueColumn> tensorColumns() {
  return {{tr("tensor")},
          {tr("collection")},
          {tr("rank")},
          {tr("elements"), ValueKind::Integer},
          {tr("iterations"), ValueKind::Integer, tr("in which it was read")}};
}

std::vector<ValueRow> tensorRows(const TrainingNames& names) {
  std::vector<ValueRow> rows;
  for (const training::TensorName& each : names.tensors)
    rows.push_back({{qtext(each.name),
                     qtext(each.collection),
                     qtext(each.process),
                     QVariant::fromValue<qlonglong>(each.elements),
                     QVariant::fromValue<qlonglong>(each.count)},
                    {.rank = each.rank}});
  return rows;
}

}  // namespace sonde::gui
