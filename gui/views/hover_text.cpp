#include "gui/views/hover_text.h"

#include "gui/trace/process_text.h"
#include "gui/trace/time_format.h"

#include <QObject>

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

QString row(const QString& name, const QString& value) {
  return QStringLiteral("<tr><td style='padding-right:10px'>%1</td><td>%2</td></tr>")
      .arg(name, value.toHtmlEscaped());
}

}  // namespace

QString statusText(const TraceModels& models, int x, const std::optional<Target>& target) {
  const Viewport& shown = models.view.viewport();
  const std::int64_t at = shown.timeAt(x) - models.document.skeleton().originNs;
  QString text = formatTime(at, static_cast<std::int64_t>(std::max(shown.nsPerPixel(), 1.0)));
  if (!target)
    return text;
  const Block& block = target->block;
  text += "   " + nameOf(block, models.timeline.names());
  if (block.bytes > 0)
    text += " " + formatBytes(block.bytes);
  if (block.count > 1)
    return text + QObject::tr("   and %1 more here, %2 in all")
                      .arg(block.count - 1)
                      .arg(formatDuration(block.busyNs));
  return text + "   " + lengthOf(block);
}

QString blockToolTip(const TraceModels& models, const Target& target, const QString& scope) {
  const Block& block = target.block;
  const Skeleton& skeleton = models.document.skeleton();
  const TrackInfo& track = skeleton.tracks.at(static_cast<std::size_t>(target.track));
  const bool transfer = track.owner == Owner::Channel;
  const QString name = nameOf(block, models.timeline.names());
  QString text = QStringLiteral("<b>%1</b><table>").arg(name.left(400).toHtmlEscaped());
  if (block.count > 1)
    text +=
        row(QObject::tr("Here"), QObject::tr("%1 events, the longest is named").arg(block.count)) +
        row(QObject::tr("In all"), formatDuration(block.busyNs));
  text += row(QObject::tr("Kind"), wordOf(block.kind)) +
          row(QObject::tr("Start"), formatTime(block.startNs - skeleton.originNs, 1));
  if (block.count == 1)
    text += row(QObject::tr("Duration"), lengthOf(block));
  if (transfer || block.bytes > 0)
    text += row(QObject::tr("Bytes"), formatBytes(block.bytes));
  text += row(transfer                       ? QObject::tr("Channel")
              : track.owner == Owner::Stream ? QObject::tr("Stream")
                                             : QObject::tr("Thread"),
              track.name + " " + track.detail);
  text += row(QObject::tr("Process"),
              titleOf(skeleton.processes.at(static_cast<std::size_t>(track.process))).left(80));
  if (!scope.isEmpty())
    text += row(transfer ? QObject::tr("By") : QObject::tr("Scope"), scope);
  return text + QStringLiteral("</table>");
}

QString valueText(const Curve& curve,
                  const CounterInfo& counter,
                  std::int64_t ns,
                  const Viewport& viewport) {
  const auto pixelNs = static_cast<std::int64_t>(std::max(viewport.nsPerPixel(), 1.0));
  const CurvePoint* point = pointAt(curve, std::min(ns + pixelNs - 1, curve.endNs));
  if (point == nullptr || ns > curve.endNs)
    return {};
  // Values before this pixel are not under the mouse, except the one that still holds.
  const bool isHere = point->startNs + pixelNs > ns;
  const QString low = formatQuantity(isHere ? point->min : point->last, counter.unit);
  const QString high = formatQuantity(isHere ? point->max : point->last, counter.unit);
  if (!isHere && std::isnan(point->last))
    return {};
  return low == high ? low : QObject::tr("%1 to %2").arg(low, high);
}

QString counterStatus(const TraceModels& models, int track, std::int64_t ns) {
  const TrackInfo& info = models.document.skeleton().tracks.at(static_cast<std::size_t>(track));
  const Curve* curve = models.timeline.curve(track);
  if (curve == nullptr || !info.counter)
    return {};
  const QString value = valueText(*curve, *info.counter, ns, models.view.viewport());
  return value.isEmpty() ? QString() : info.name + QStringLiteral("   ") + value;
}

QString counterToolTip(const TraceModels& models, int track, std::int64_t ns) {
  const Skeleton& skeleton = models.document.skeleton();
  const TrackInfo& info = skeleton.tracks.at(static_cast<std::size_t>(track));
  const Curve* curve = models.timeline.curve(track);
  if (curve == nullptr || !info.counter)
    return {};
  const CounterInfo& counter = *info.counter;
  const QString value = valueText(*curve, counter, ns, models.view.viewport());
  QString text = QStringLiteral("<b>%1</b><table>").arg(info.name.left(400).toHtmlEscaped());
  text += row(counter.isTotal ? QObject::tr("Rate") : QObject::tr("Value"),
              value.isEmpty() ? QObject::tr("not recorded here") : value) +
          row(QObject::tr("Time"), formatTime(ns - skeleton.originNs, 1)) +
          row(QObject::tr("Largest"), formatQuantity(curve->high, counter.unit)) +
          row(QObject::tr("Of"), info.detail);
  return text + QStringLiteral("</table>");
}

QString processToolTip(const TraceModels& models, int process) {
  const Skeleton& skeleton = models.document.skeleton();
  const ProcessInfo& info = skeleton.processes.at(static_cast<std::size_t>(process));
  QString text = QStringLiteral("<b>%1</b><table>").arg(titleOf(info).left(100).toHtmlEscaped());
  for (const auto& [name, value] : detailsOf(info, skeleton.originNs).rows)
    text += row(name, value.left(400));
  if (models.timeline.layout().quiet(process))
    text += row(QObject::tr("Events"), QObject::tr("none"));
  return text + QStringLiteral("</table>");
}

}  // namespace sonde::gui
