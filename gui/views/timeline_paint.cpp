// Painting of TimelineView.
#include "gui/trace/process_text.h"
#include "gui/trace/time_format.h"
#include "gui/views/axis_painter.h"
#include "gui/views/timeline_view.h"

#include <QPainter>
#include <QScrollBar>

#include <algorithm>

namespace sonde::gui {
namespace {

constexpr int kMargin = 8;
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

// "gpu 3  ·  NVIDIA A100-SXM4-80GB  ·  4 streams", "12 more channels".
QString groupText(const Skeleton& skeleton, const LayoutEntry& entry) {
  if (entry.type == LayoutEntry::Type::Channels)
    return entry.count == 1 ? QStringLiteral("1 more channel")
                            : QStringLiteral("%1 more channels").arg(entry.count);
  QStringList parts{QStringLiteral("device unknown")};
  if (entry.device >= 0) {
    const DeviceInfo& device = skeleton.devices.at(static_cast<std::size_t>(entry.device));
    parts = {device.name};
    if (!device.model.isEmpty())
      parts << device.model;
  }
  parts << (entry.count == 1 ? QStringLiteral("1 stream")
                             : QStringLiteral("%1 streams").arg(entry.count));
  return parts.join(QStringLiteral("  ·  "));
}

}  // namespace

void TimelineView::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), theme_.background);
  if (!models_.document.ready() || models_.document.skeleton().processes.empty()) {
    paintMessage(painter);
    return;
  }
  paintTracks(painter);
  paintHeader(painter);
}

void TimelineView::paintMessage(QPainter& painter) {
  QString text;
  switch (models_.document.state()) {
    case TraceDocument::State::Loading:
      text = tr("Reading %1 …").arg(models_.document.paths().join(QStringLiteral(", ")));
      break;
    case TraceDocument::State::Failed:
      text = models_.document.error();
      break;
    case TraceDocument::State::Ready:
      text = tr("This trace is empty: nothing was recorded.");
      break;
    default:
      text = tr("Open a trace with Ctrl+O, or drop one here.");
  }
  painter.setPen(theme_.dimText);
  painter.drawText(
      viewport()->rect().adjusted(40, 0, -40, 0), Qt::AlignCenter | Qt::TextWordWrap, text);
}

void TimelineView::paintTracks(QPainter& painter) {
  const QRect content(
      0, headerHeight(), viewport()->width(), viewport()->height() - headerHeight());
  const QRect time = content.adjusted(labelWidth_, 0, 0, 0);
  const AxisContext axis{models_.view.viewport(),
                         theme_,
                         models_.document.skeleton().originNs,
                         models_.document.skeleton().endNs};
  PaintContext context{models_.view.viewport(),
                       theme_,
                       colorBy_,
                       models_.document.skeleton().endNs,
                       models_.selection.ref(),
                       {},
                       models_.search.text()};
  if (hover_)
    context.hovered = refOf(hover_->block);
  painter.save();
  painter.setClipRect(content);
  paintGrid(painter, time, axis);
  // Before the rows: titles of processes cross the line.
  painter.setPen(theme_.border);
  painter.drawLine(labelWidth_ - 1, content.top(), labelWidth_ - 1, content.bottom());
  const auto [first, last] = visibleEntries(0);
  for (std::size_t at = first; at < last; ++at)
    paintEntry(painter, models_.timeline.layout().entries()[at], context);
  painter.setClipRect(time);
  paintArea(painter);
  paintArrows(painter);
  painter.restore();
}

void TimelineView::paintEntry(QPainter& painter,
                              const LayoutEntry& entry,
                              const PaintContext& context) {
  const QPoint corner = contentCorner();
  const QRect row(0, corner.y() + entry.y, viewport()->width(), entry.height);
  if (entry.type == LayoutEntry::Type::Process)
    return paintProcess(painter, row, entry);
  if (entry.type != LayoutEntry::Type::Track)
    return paintGroup(painter, row, entry);
  const TrackInfo& track =
      models_.document.skeleton().tracks.at(static_cast<std::size_t>(entry.track));
  painter.setPen(theme_.grid);
  painter.drawLine(row.left(), row.bottom(), row.right(), row.bottom());
  paintTrackLabel(painter, QRect(0, row.top(), labelWidth_, row.height()), track);
  const std::vector<Block>* blocks = models_.timeline.blocks(entry.track);
  if (blocks == nullptr)
    return;
  painter.save();
  painter.setClipRect(QRect(labelWidth_, row.top(), row.width() - labelWidth_, row.height())
                          .intersected(viewport()->rect().adjusted(0, headerHeight(), 0, 0)));
  SlicePainter(painter, context)
      .paint(*blocks,
             models_.timeline.names(),
             {double(labelWidth_), double(row.top() + TrackLayout::kTrackPadding)});
  painter.restore();
}

void TimelineView::paintProcess(QPainter& painter, const QRect& rect, const LayoutEntry& entry) {
  const ProcessInfo& process =
      models_.document.skeleton().processes.at(static_cast<std::size_t>(entry.process));
  painter.fillRect(rect, theme_.panelStrong);
  paintLife(painter, rect, process);
  painter.setPen(theme_.border);
  painter.drawLine(rect.bottomLeft(), rect.bottomRight());
  const bool quiet = models_.timeline.layout().quiet(entry.process);
  if (!quiet)
    paintFoldMark(painter, rect, entry.folded, theme_.text);
  QString remark;
  if (failed(process))
    remark = endingOf(process);
  else if (!quiet && entry.hidden > 0 && !process.childOf)
    remark = hiddenText(entry.hidden);
  painter.save();
  QFont font = painter.font();
  font.setBold(process.rank && !process.childOf && !quiet);
  painter.setFont(font);
  painter.setPen(theme_.text);
  const QRect text = rect.adjusted(24, 0, -kMargin, -1);
  const QFontMetrics metrics = painter.fontMetrics();
  const QString title = metrics.elidedText(titleOf(process), Qt::ElideMiddle, text.width());
  painter.drawText(text, Qt::AlignVCenter, title);
  painter.restore();
  painter.setPen(failed(process) ? theme_.mark : theme_.dimText);
  painter.drawText(
      text.adjusted(metrics.horizontalAdvance(title) + 16, 0, 0, 0), Qt::AlignVCenter, remark);
}

void TimelineView::paintLife(QPainter& painter, const QRect& rect, const ProcessInfo& process) {
  if (!process.startNs)
    return;
  const Viewport& shown = models_.view.viewport();
  const double width = shown.width();
  const std::int64_t end = process.endNs.value_or(models_.document.skeleton().endNs);
  const double left = std::clamp(shown.xAt(*process.startNs), -1.0, width);
  const double right = std::clamp(shown.xAt(end), left + 1.0, width + 1.0);
  const QRectF life(labelWidth_ + left, rect.top(), right - left, rect.height());
  painter.save();
  painter.setClipRect(rect.adjusted(labelWidth_, 0, 0, 0), Qt::IntersectClip);
  painter.fillRect(life, theme_.life);
  painter.fillRect(life.adjusted(0, life.height() - kLifeLine, 0, 0), theme_.lifeStrong);
  painter.restore();
}

void TimelineView::paintGroup(QPainter& painter, const QRect& rect, const LayoutEntry& entry) {
  painter.fillRect(rect, theme_.panel);
  painter.setPen(theme_.grid);
  painter.drawLine(rect.bottomLeft(), rect.bottomRight());
  paintFoldMark(painter, rect.translated(12, 0), entry.folded, theme_.dimText);
  painter.setPen(theme_.dimText);
  painter.drawText(rect.adjusted(36, 0, -kMargin, -1),
                   Qt::AlignVCenter,
                   groupText(models_.document.skeleton(), entry));
}

void TimelineView::paintTrackLabel(QPainter& painter, const QRect& rect, const TrackInfo& track) {
  painter.fillRect(rect.adjusted(0, 0, -1, -1), theme_.panel);
  const bool grouped =
      track.owner == Owner::Stream || (track.owner == Owner::Channel && !track.network);
  const QRect first = rect.adjusted(grouped ? 36 : 24, TrackLayout::kTrackPadding, -kMargin, 0);
  const QRect line(first.left(), first.top(), first.width(), TrackLayout::kRowHeight);
  const QFontMetrics metrics = painter.fontMetrics();
  painter.setPen(theme_.text);
  const QString name = metrics.elidedText(track.name, Qt::ElideRight, line.width());
  painter.drawText(line, Qt::AlignVCenter, name);
  painter.setPen(theme_.dimText);
  if (const int row = rowOfSync(track); row > 0)
    painter.drawText(line.translated(0, row * TrackLayout::kRowHeight),
                     Qt::AlignVCenter | Qt::AlignRight,
                     tr("sync"));
  if (track.rows >= 2) {
    const QRect second = line.translated(0, TrackLayout::kRowHeight - 2);
    painter.drawText(
        second, Qt::AlignVCenter, metrics.elidedText(track.detail, Qt::ElideMiddle, line.width()));
    return;
  }
  const int room = line.width() - metrics.horizontalAdvance(name) - 10;
  if (metrics.horizontalAdvance(track.detail) <= room)
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, track.detail);
}

void TimelineView::paintHeader(QPainter& painter) {
  const Skeleton& skeleton = models_.document.skeleton();
  const AxisContext axis{models_.view.viewport(), theme_, skeleton.originNs, skeleton.endNs};
  const QRect ruler(labelWidth_, 0, viewport()->width() - labelWidth_, kRulerHeight);
  painter.fillRect(QRect(0, 0, viewport()->width(), headerHeight()), theme_.panel);
  paintRuler(painter, ruler, axis);
  painter.setPen(theme_.dimText);
  painter.drawText(QRect(kMargin, 0, labelWidth_ - 2 * kMargin, kRulerHeight),
                   Qt::AlignVCenter,
                   tr("window %1").arg(formatDuration(models_.view.viewport().spanNs())));
  if (!skeleton.iterations.empty()) {
    const int process = skeleton.iterations.front().process;
    const auto [first, last] = iterationsOf(skeleton, process);
    const QRect band(labelWidth_, kRulerHeight, ruler.width(), kBandHeight - 1);
    const auto& rank = skeleton.processes.at(static_cast<std::size_t>(process)).rank;
    painter.drawText(QRect(kMargin, kRulerHeight, labelWidth_ - 2 * kMargin, kBandHeight - 1),
                     Qt::AlignVCenter,
                     rank ? tr("iterations of rank %1").arg(*rank) : tr("iterations"));
    painter.save();
    painter.setClipRect(band);
    paintIterations(painter, band, axis, first, last);
    painter.restore();
  }
  painter.setPen(theme_.border);
  painter.drawLine(0, headerHeight() - 1, viewport()->width(), headerHeight() - 1);
  painter.drawLine(labelWidth_ - 1, 0, labelWidth_ - 1, headerHeight() - 1);
  painter.save();
  painter.setClipRect(QRect(labelWidth_, 0, ruler.width(), viewport()->height()));
  if (models_.view.area())
    paintSpan(painter, ruler, axis, models_.view.area()->span);
  paintMarks(painter, ruler, viewport()->height(), axis, models_.view.marks());
  painter.restore();
}

void TimelineView::paintArea(QPainter& painter) {
  if (!models_.view.area())
    return;
  const AxisContext axis{models_.view.viewport(),
                         theme_,
                         models_.document.skeleton().originNs,
                         models_.document.skeleton().endNs};
  for (const int track : models_.view.area()->tracks) {
    const LayoutEntry* entry = models_.timeline.layout().find(track);
    if (entry == nullptr)
      continue;
    const QRect rect(labelWidth_,
                     contentCorner().y() + entry->y,
                     models_.view.viewport().width(),
                     entry->height);
    if (rect.intersects(viewport()->rect()))
      paintSpan(painter, rect, axis, models_.view.area()->span);
  }
}

}  // namespace sonde::gui
