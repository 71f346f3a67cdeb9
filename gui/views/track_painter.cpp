#include "gui/views/track_painter.h"

#include "gui/trace/process_text.h"
#include "gui/trace/time_format.h"
#include "gui/views/curve_painter.h"
#include "gui/views/hover_text.h"

#include <QObject>

#include <algorithm>

namespace sonde::gui {
namespace {

constexpr int kLabelMargin = 8;
constexpr int kLifeLine = 3;

void paintFoldMark(QPainter& painter, const QRect& rect, bool folded, const QColor& color) {
  const QPointF c(rect.left() + 12.5, rect.center().y() + 0.5);
  const QPointF down[] = {{c.x() - 4, c.y() - 2}, {c.x() + 4, c.y() - 2}, {c.x(), c.y() + 3}};
  const QPointF right[] = {{c.x() - 2, c.y() - 4}, {c.x() + 3, c.y()}, {c.x() - 2, c.y() + 4}};
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawConvexPolygon(folded ? right : down, 3);
  painter.restore();
}

QString hiddenText(int hidden) {
  return hidden == 1 ? QStringLiteral("1 track without events")
                     : QStringLiteral("%1 tracks without events").arg(hidden);
}

// The first row of a stream's synchronisation; -1: none.
int rowOfSync(const TrackInfo& track) {
  const auto sync = std::find_if(
      track.lines.begin(), track.lines.end(), [](const Line& line) { return line.lane == 1; });
  return track.owner == Owner::Stream && sync != track.lines.end() ? sync->row : -1;
}

// "7 counters", "machine node-1  ·  33 counters".
QString countersText(const Skeleton& skeleton, const LayoutEntry& entry) {
  const QString number = entry.count == 1 ? QStringLiteral("1 counter")
                                          : QStringLiteral("%1 counters").arg(entry.count);
  if (!entry.isOfHost)
    return number;
  const ProcessInfo& process = skeleton.processes.at(static_cast<std::size_t>(entry.process));
  return QStringLiteral("machine %1  ·  %2").arg(process.host, number);
}

// "12 more channels  ·  34 events": rows may be empty because their events are at another time.
QString channelsText(const Skeleton& skeleton,
                     const LayoutEntry& entry,
                     const std::vector<int>& tracks) {
  std::int64_t events = 0;
  for (const int track : tracks)
    events += skeleton.tracks.at(static_cast<std::size_t>(track)).count;
  return QStringLiteral("%1  ·  %2")
      .arg(entry.count == 1 ? QStringLiteral("1 more channel")
                            : QStringLiteral("%1 more channels").arg(entry.count),
           events == 1 ? QStringLiteral("1 event") : QStringLiteral("%L1 events").arg(events));
}

// "gpu 3  ·  NVIDIA A100-SXM4-80GB  ·  4 streams".
QString groupText(const Skeleton& skeleton, const TrackLayout& layout, const LayoutEntry& entry) {
  if (entry.type == LayoutEntry::Type::Counters)
    return countersText(skeleton, entry);
  if (entry.type == LayoutEntry::Type::Channels)
    return channelsText(skeleton, entry, layout.tracksOf(entry));
  const QString tracks =
      entry.count == 1 ? QStringLiteral("1 track") : QStringLiteral("%1 tracks").arg(entry.count);
  if (entry.type == LayoutEntry::Type::Kind)
    return QStringLiteral("%1  ·  %2").arg(entry.kind, tracks);
  QStringList parts{QStringLiteral("device unknown")};
  if (entry.device >= 0) {
    const DeviceInfo& device = skeleton.devices.at(static_cast<std::size_t>(entry.device));
    parts = {device.name};
    if (!device.model.isEmpty())
      parts << device.model;
  }
  // By device it also has counters.
  parts << (entry.process < 0  ? tracks
            : entry.count == 1 ? QStringLiteral("1 stream")
                               : QStringLiteral("%1 streams").arg(entry.count));
  return parts.join(QStringLiteral("  ·  "));
}

}  // namespace

void TrackPainter::paint(const LayoutEntry& entry) {
  const QRect row = geometry_.rowOf(entry);
  if (entry.type == LayoutEntry::Type::Process)
    paintProcess(row, entry);
  else if (entry.type == LayoutEntry::Type::Track)
    paintTrack(row, entry);
  else
    paintGroup(row, entry);
}

QString TrackPainter::nameOf(const TrackInfo& track, const LayoutEntry& entry) const {
  if (!entry.isApart)
    return track.name;
  const ProcessInfo& process =
      models_.document.skeleton().processes.at(static_cast<std::size_t>(track.process));
  const bool isOfHost = track.counter && track.counter->isOfHost;
  return (isOfHost ? process.host : shortTitleOf(process)) + QStringLiteral("  ·  ") + track.name;
}

void TrackPainter::paintTrack(const QRect& row, const LayoutEntry& entry) {
  const TrackInfo& track =
      models_.document.skeleton().tracks.at(static_cast<std::size_t>(entry.track));
  painter_.setPen(context_.theme.grid);
  painter_.drawLine(row.left(), row.bottom(), row.right(), row.bottom());
  const int left = geometry_.labelWidth();
  if (track.counter) {
    paintCounter(row, track, entry);
    return;
  }
  paintLabel(QRect(0, row.top(), left, row.height()), track, entry);
  const std::vector<Block>* blocks = models_.timeline.blocks(entry.track);
  if (blocks == nullptr)
    return;
  painter_.save();
  painter_.setClipRect(row.adjusted(left, 0, 0, 0).intersected(geometry_.areaOf(entry)));
  SlicePainter(painter_, context_)
      .paint(*blocks,
             models_.timeline.names(),
             {double(left), double(row.top() + TrackLayout::kTrackPadding)});
  if (const std::vector<engine::correction::CostSpan>* costs = models_.timeline.costs(entry.track))
    paintCosts(row, *costs);
  painter_.restore();
}

void TrackPainter::paintCosts(const QRect& row,
                              const std::vector<engine::correction::CostSpan>& costs) {
  const Viewport& shown = context_.viewport;
  const QRectF blocks = row.adjusted(geometry_.labelWidth(), TrackLayout::kTrackPadding, 0, -1);
  QColor color = context_.theme.background;
  for (const engine::correction::CostSpan& cost : costs) {
    if (cost.endNs <= shown.beginNs() || cost.beginNs >= shown.endNs())
      continue;
    const double left = std::max(shown.xAt(cost.beginNs), 0.0);
    const double right = std::min(shown.xAt(cost.endNs), shown.width() + 0.0);
    color.setAlphaF(static_cast<float>(cost.share));
    painter_.fillRect(QRectF(blocks.left() + left, blocks.top(), right - left, blocks.height()),
                      color);
  }
}

// The label has the value at the mouse, and the largest one of the trace.
void TrackPainter::paintCounter(const QRect& row,
                                const TrackInfo& track,
                                const LayoutEntry& entry) {
  const int left = geometry_.labelWidth();
  painter_.fillRect(QRect(0, row.top(), left - 1, row.height() - 1), context_.theme.panel);
  const QRect name(36,
                   row.top() + TrackLayout::kTrackPadding,
                   left - 36 - kLabelMargin,
                   TrackLayout::kRowHeight);
  const QRect values = name.translated(0, TrackLayout::kRowHeight - 2);
  const QFontMetrics metrics = painter_.fontMetrics();
  painter_.setPen(context_.theme.text);
  painter_.drawText(name,
                    Qt::AlignVCenter,
                    metrics.elidedText(nameOf(track, entry), Qt::ElideRight, name.width()));
  const Curve* curve = models_.timeline.curve(entry.track);
  if (curve == nullptr)
    return;
  if (context_.mouseNs)
    painter_.drawText(values,
                      Qt::AlignVCenter,
                      valueText(*curve, *track.counter, *context_.mouseNs, context_.viewport));
  painter_.setPen(context_.theme.dimText);
  painter_.drawText(values,
                    Qt::AlignVCenter | Qt::AlignRight,
                    QObject::tr("max %1").arg(formatQuantity(curve->high, track.counter->unit)));
  const QRect plot = row.adjusted(left, TrackLayout::kTrackPadding, 0, -2);
  painter_.save();
  painter_.setClipRect(plot.intersected(geometry_.areaOf(entry)));
  paintCurve(painter_, *curve, context_.viewport, plot, context_.theme.curve);
  painter_.restore();
}

void TrackPainter::paintProcess(const QRect& rect, const LayoutEntry& entry) {
  const ProcessInfo& process =
      models_.document.skeleton().processes.at(static_cast<std::size_t>(entry.process));
  painter_.fillRect(rect, context_.theme.panelStrong);
  paintLife(rect, process);
  painter_.setPen(context_.theme.border);
  painter_.drawLine(rect.bottomLeft(), rect.bottomRight());
  const bool quiet = models_.timeline.layout().quiet(entry.process);
  QString remark;
  if (failed(process))
    remark = endingOf(process);
  else if (!quiet && entry.hidden > 0 && !process.childOf)
    remark = hiddenText(entry.hidden);
  painter_.save();
  QFont font = painter_.font();
  font.setBold(process.rank && !process.childOf && !quiet);
  painter_.setFont(font);
  painter_.setPen(context_.theme.text);
  const QRect text = rect.adjusted(24, 0, -kLabelMargin, -1);
  const QFontMetrics metrics = painter_.fontMetrics();
  const QString title = metrics.elidedText(titleOf(process), Qt::ElideMiddle, text.width());
  const int width = metrics.horizontalAdvance(title) + 16;
  const int whole = text.left() + width + metrics.horizontalAdvance(remark);
  if (whole > geometry_.labelWidth())  // no border crosses the words
    painter_.fillRect(
        QRect(0, rect.top(), whole + kLabelMargin, rect.height() - kLifeLine - 1).intersected(rect),
        context_.theme.panelStrong);
  if (!quiet)
    paintFoldMark(painter_, rect, entry.folded, context_.theme.text);
  painter_.drawText(text, Qt::AlignVCenter, title);
  painter_.restore();
  painter_.setPen(failed(process) ? context_.theme.mark : context_.theme.dimText);
  painter_.drawText(text.adjusted(width, 0, 0, 0), Qt::AlignVCenter, remark);
}

void TrackPainter::paintLife(const QRect& rect, const ProcessInfo& process) {
  if (!process.startNs)
    return;
  const Viewport& shown = context_.viewport;
  const double width = shown.width();
  const std::int64_t end = process.endNs.value_or(context_.traceEndNs);
  const double left = std::clamp(shown.xAt(*process.startNs), -1.0, width);
  const double right = std::clamp(shown.xAt(end), left + 1.0, width + 1.0);
  const QRectF life(geometry_.labelWidth() + left, rect.top(), right - left, rect.height());
  painter_.save();
  painter_.setClipRect(rect.adjusted(geometry_.labelWidth(), 0, 0, 0), Qt::IntersectClip);
  painter_.fillRect(life, context_.theme.life);
  painter_.fillRect(life.adjusted(0, life.height() - kLifeLine, 0, 0), context_.theme.lifeStrong);
  painter_.restore();
}

void TrackPainter::paintGroup(const QRect& rect, const LayoutEntry& entry) {
  painter_.fillRect(rect, context_.theme.panel);
  painter_.setPen(context_.theme.grid);
  painter_.drawLine(rect.bottomLeft(), rect.bottomRight());
  const int indent = entry.isOfHost || entry.process < 0 ? 0 : 12;
  paintFoldMark(painter_, rect.translated(indent, 0), entry.folded, context_.theme.dimText);
  painter_.setPen(context_.theme.dimText);
  painter_.drawText(rect.adjusted(24 + indent, 0, -kLabelMargin, -1),
                    Qt::AlignVCenter,
                    groupText(models_.document.skeleton(), models_.timeline.layout(), entry));
}

void TrackPainter::paintLabel(const QRect& rect, const TrackInfo& track, const LayoutEntry& entry) {
  painter_.fillRect(rect.adjusted(0, 0, -1, -1), context_.theme.panel);
  const bool grouped =
      track.owner == Owner::Stream || (track.owner == Owner::Channel && !track.network);
  const QRect first =
      rect.adjusted(grouped ? 36 : 24, TrackLayout::kTrackPadding, -kLabelMargin, 0);
  const QRect line(first.left(), first.top(), first.width(), TrackLayout::kRowHeight);
  const QFontMetrics metrics = painter_.fontMetrics();
  painter_.setPen(context_.theme.text);
  const QString name = metrics.elidedText(nameOf(track, entry), Qt::ElideRight, line.width());
  painter_.drawText(line, Qt::AlignVCenter, name);
  painter_.setPen(context_.theme.dimText);
  if (const int row = rowOfSync(track); row > 0)
    painter_.drawText(line.translated(0, row * TrackLayout::kRowHeight),
                      Qt::AlignVCenter | Qt::AlignRight,
                      QObject::tr("sync"));
  if (track.rows >= 2) {
    const QRect second = line.translated(0, TrackLayout::kRowHeight - 2);
    painter_.drawText(
        second, Qt::AlignVCenter, metrics.elidedText(track.detail, Qt::ElideMiddle, line.width()));
    return;
  }
  const int room = line.width() - metrics.horizontalAdvance(name) - 10;
  if (metrics.horizontalAdvance(track.detail) <= room)
    painter_.drawText(line, Qt::AlignVCenter | Qt::AlignRight, track.detail);
}

}  // namespace sonde::gui
