#include "gui/models/system/system_values.h"

#include "analysis/engine/metrics/ranks.h"
#include "analysis/engine/metrics/throughput.h"
#include "gui/trace/qtext.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace sonde::gui {
namespace {

using engine::counters::CounterChart;
using engine::counters::CounterGroup;
using engine::counters::CounterPoint;
using engine::counters::CounterSeries;
using engine::energy::EnergyUse;

constexpr std::size_t kMostStretches = 1000;

QString tr(const char* text) {
  return QCoreApplication::translate("System", text);
}

struct GroupText {
  const char* title;
  ValueKind unit;
};
// In the order of CounterGroup.
constexpr std::array<GroupText, engine::counters::kCounterGroups> kGroupTexts = {{
    {"Processors in use", ValueKind::Real},
    {"GPU busy", ValueKind::Share},
    {"Memory", ValueKind::Bytes},
    {"GPU memory", ValueKind::Bytes},
    {"Power (W)", ValueKind::Real},
    {"Temperature (°C)", ValueKind::Real},
    {"Network", ValueKind::Rate},
    {"NVLink and PCIe", ValueKind::Rate},
    {"Disks", ValueKind::Rate},
    {"Waiting for a resource", ValueKind::Share},
    {"Clocks (Hz)", ValueKind::Scaled},
    {"Other counters", ValueKind::Scaled},
}};

bool isLevel(const CounterChart& chart) {
  return chart.group == CounterGroup::Memory || chart.group == CounterGroup::GpuMemory;
}

// The lowest and the highest value; both 0 if there are none.
std::pair<double, double> boundsOf(const CounterSeries& series) {
  std::optional<std::pair<double, double>> bounds;
  for (const CounterPoint& point : series.points)
    if (std::isfinite(point.value))
      bounds = bounds ? std::pair(std::min(bounds->first, point.value),
                                  std::max(bounds->second, point.value))
                      : std::pair(point.value, point.value);
  return bounds.value_or(std::pair(0.0, 0.0));
}

// "context switches (1/s)"
QString otherTitle(const CounterChart& chart) {
  const QString unit = chart.series.empty() ? QString() : qtext(chart.series.front().unit);
  const QString name = qtext(chart.name);
  return unit.isEmpty() || unit == u"1" ? name : QStringLiteral("%1 (%2)").arg(name, unit);
}

ValueRow energyRow(const EnergyUse& use,
                   const QString& operation,
                   const engine::energy::Share& share) {
  ValueRow row;
  row.values = {qtext(use.place),
                qtext(use.meter),
                operation,
                share.joules,
                use.energy.joules > 0 ? QVariant(share.joules / use.energy.joules) : QVariant(),
                share.low,
                share.high,
                QVariant::fromValue<qlonglong>(share.activeNs),
                share.activeNs > 0
                    ? QVariant(share.joules * 1e9 / static_cast<double>(share.activeNs))
                    : QVariant()};
  return row;
}

}  // namespace

Result<SystemValues> readSystem(const store::Database& trace,
                                const std::optional<engine::metrics::Interval>& within) {
  SONDE_TRY_ASSIGN(const auto ranks, engine::metrics::readRanks(trace));
  SystemValues values;
  SONDE_TRY_ASSIGN(const auto charts,
                   engine::counters::counterCharts(trace, ranks, within, kMostStretches));
  for (const CounterChart& chart : charts)
    for (CounterChart& part : withRoom(chart))
      values.charts.push_back(std::move(part));
  SONDE_TRY_ASSIGN(values.hasCounters, engine::counters::hasCounters(trace));
  std::vector<engine::metrics::Throughput> throughput;
  for (const auto& rank : ranks) {
    SONDE_TRY_ASSIGN(const auto work, engine::metrics::workOf(trace, rank, std::nullopt));
    throughput.push_back(engine::metrics::throughputOf(rank, work));
  }
  SONDE_TRY_ASSIGN(values.energy, engine::energy::energyUses(trace, ranks, throughput, within));
  return values;
}

std::vector<CounterChart> withRoom(const CounterChart& chart) {
  constexpr double kSimilar = 4;
  if (!isLevel(chart))
    return {chart};
  std::vector<CounterSeries> series = chart.series;
  const auto highest = [](const CounterSeries& each) { return boundsOf(each).second; };
  std::stable_sort(series.begin(), series.end(), [&](const auto& one, const auto& other) {
    return highest(one) > highest(other);
  });
  std::vector<CounterChart> parts;
  double largest = 0;
  for (CounterSeries& each : series) {
    const double value = highest(each);
    if (parts.empty() || (value > 0 && value * kSimilar < largest)) {
      parts.push_back(chart);
      parts.back().series.clear();
      largest = value;
    }
    parts.back().series.push_back(std::move(each));
  }
  return parts;
}

bool isFromZero(const CounterChart& chart) {
  constexpr double kHardly = 0.5;  // of the highest value
  if (!isLevel(chart))
    return true;
  double low = INFINITY;
  double high = 0;
  for (const CounterSeries& each : chart.series) {
    const auto bounds = boundsOf(each);
    low = std::min(low, bounds.first);
    high = std::max(high, bounds.second);
  }
  return !(high - low < kHardly * high);
}

QString titleOf(const CounterChart& chart) {
  const QString group = chart.name.empty()
                            ? tr(kGroupTexts.at(static_cast<std::size_t>(chart.group)).title)
                            : otherTitle(chart);
  QString title =
      chart.device.empty() ? group : QStringLiteral("%1, %2").arg(group, qtext(chart.device));
  if (isLevel(chart) && chart.series.size() == 1)
    title += QStringLiteral(": %1").arg(qtext(chart.series.front().name));
  return isFromZero(chart) ? title : tr("%1 (the axis does not begin at 0)").arg(title);
}

ValueKind unitOf(const CounterChart& chart) {
  return kGroupTexts.at(static_cast<std::size_t>(chart.group)).unit;
}

std::vector<ValueColumn> energyColumns() {
  return {{tr("of")},
          {tr("meter")},
          {tr("operation")},
          {tr("energy (J)"), ValueKind::Real},
          {tr("share"), ValueKind::Share, tr("of the energy that the meter counted")},
          {tr("at least (J)"), ValueKind::Real, tr("if it used nothing while others worked, too")},
          {tr("at most (J)"), ValueKind::Real, tr("if others used nothing meanwhile")},
          {tr("active"), ValueKind::Duration},
          {tr("mean power (W)"), ValueKind::Real, tr("while it was active")}};
}

std::vector<ValueRow> energyRows(const SystemValues& values) {
  std::vector<ValueRow> rows;
  for (const EnergyUse& use : values.energy) {
    for (const auto& operation : use.operations) {
      ValueRow& row = rows.emplace_back(energyRow(use, qtext(operation.name), operation.share));
      row.place.operation = qtext(operation.name);
    }
    rows.push_back(energyRow(use, tr("idle"), use.energy.idle));
  }
  return rows;
}

}  // namespace sonde::gui
