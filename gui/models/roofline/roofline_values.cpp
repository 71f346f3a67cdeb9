#include "gui/models/roofline/roofline_values.h"

#include "gui/models/kernel_label.h"
#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"

#include <QCoreApplication>
#include <QStringList>

#include <cmath>

namespace sonde::gui {
namespace {

using engine::roofline::Bound;
using engine::roofline::DeviceRoofline;
using engine::roofline::RooflinePoint;

QString tr(const char* text) {
  return QCoreApplication::translate("Roofline", text);
}

QString nameOf(const RooflinePoint& point) {
  if (!point.kernel.empty())
    return kernelLabel(qtext(point.kernel));
  return point.isCounted ? tr("all kernels of %1").arg(qtext(point.operation))
                         : qtext(point.operation);
}

// "addmm, float"
QString operationOf(const RooflinePoint& point) {
  return point.type.empty() ? qtext(point.operation)
                            : qtext(point.operation) + QStringLiteral(", ") + qtext(point.type);
}

}  // namespace

QString titleOf(Bound bound) {
  constexpr const char* kTitles[] = {"unknown", "memory", "compute", "latency"};
  return tr(kTitles[static_cast<std::size_t>(bound)]);
}

QString textOf(const RooflinePoint& point) {
  QStringList lines{nameOf(point)};
  if (!point.kernel.empty() || point.isCounted)
    lines << operationOf(point);
  lines
      << tr("%L1 times, %2 in total").arg(point.count).arg(formatDuration(std::llround(point.ns)));
  lines << tr("%1 FLOP/byte, %2FLOP/s, %3/s")
               .arg(numberText(point.intensity(), ValueKind::Real),
                    numberText(point.flopsPerSecond(), ValueKind::Scaled),
                    formatBytes(std::llround(point.bytesPerSecond())));
  if (const auto share = point.share())
    lines << tr("%1 of its roof; bound by %2")
                 .arg(numberText(*share, ValueKind::Share), titleOf(point.bound()));
  return lines.join(u'\n');
}

QString noteOf(const DeviceRoofline& device) {
  QStringList notes;
  if (device.isHost)
    notes << tr(
        "The trace has no kernels: the points are operators on the processor, whose peaks "
        "are unknown.");
  else if (!(device.bytesPerSecond > 0))
    notes << tr("The peaks of this device are unknown.");
  else
    notes << tr("Peaks are published ones.");
  double known = 0;
  bool isCounted = false;
  for (const RooflinePoint& each : device.points) {
    isCounted |= each.isCounted;
    known += each.isCounted ? 0 : each.ns;
  }
  if (device.kernelNs > 0 && known > 0)
    notes << tr("Known: kernels with %1 of the time, those of operators with recorded sizes.")
                 .arg(numberText(known / device.kernelNs, ValueKind::Share));
  if (isCounted)
    notes << tr(
        "Hardware counters measured whole operations, with the time in which the device "
        "was idle.");
  return notes.join(u' ');
}

std::vector<ValueColumn> rooflineColumns() {
  return {
      {tr("kernel")},
      {tr("time"), ValueKind::Duration, tr("in total")},
      {tr("of its roof"), ValueKind::Share, tr("of the rate that the device allows")},
      {tr("bound by"),
       ValueKind::Text,
       tr("latency: it reaches less than a quarter of its roof. Else the roof that it is under")},
      {tr("FLOP/byte"), ValueKind::Real, tr("arithmetic intensity")},
      {tr("FLOP/s"), ValueKind::Scaled, tr("achieved")},
      {tr("bandwidth"), ValueKind::Rate, tr("achieved")},
      {tr("count"), ValueKind::Integer},
      {tr("operator"), ValueKind::Text, tr("with the type of its elements")}};
}

std::vector<ValueRow> rooflineRows(const DeviceRoofline& device) {
  std::vector<ValueRow> rows;
  for (const RooflinePoint& point : device.points) {
    const auto share = point.share();
    rows.push_back(
        {{nameOf(point),
          QVariant::fromValue<qlonglong>(std::llround(point.ns)),
          share ? QVariant(*share) : QVariant(),
          titleOf(point.bound()),
          point.intensity(),
          point.flopsPerSecond(),
          point.bytesPerSecond(),
          QVariant::fromValue<qlonglong>(point.count),
          operationOf(point)},
         {.span = Span{point.longest.begin, point.longest.end}, .name = qtext(point.kernel)}});
  }
  return rows;
}

}  // namespace sonde::gui
