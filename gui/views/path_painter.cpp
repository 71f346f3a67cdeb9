#include "gui/views/path_painter.h"

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

constexpr double kBarHeight = 4;
constexpr double kMostGap = 2;  // pixels between parts of one path, that of an iteration

}  // namespace

void paintPath(QPainter& painter,
               const TraceModels& models,
               const TimelineGeometry& geometry,
               const Theme& theme) {
  const Viewport& shown = models.view.viewport();
  const double left = geometry.labelWidth();
  QPointF before;  // the end of the last drawn part
  bool isJoined = false;
  double drawnTo = -1;  // pixels up to here have their part, if its track is the same
  int drawnTrack = -1;
  painter.setPen(QPen(theme.mark, 1));
  for (const PathOverlay::Part& part : models.path.parts()) {
    if (part.span.endNs < shown.beginNs() || part.span.beginNs > shown.endNs()) {
      isJoined = false;
      continue;
    }
    const LayoutEntry* entry = part.track < 0 ? nullptr : models.timeline.layout().find(part.track);
    if (entry == nullptr)
      continue;
    const double begin = left + std::max(shown.xAt(part.span.beginNs), -2.0);
    const double end = left + std::min(shown.xAt(part.span.endNs), shown.width() + 2.0);
    if (end <= drawnTo && part.track == drawnTrack)
      continue;
    const QRect area = geometry.areaOf(*entry);
    const double y = geometry.rowOf(*entry).bottom() - kBarHeight / 2;
    const bool follows = isJoined && std::abs(begin - before.x()) < kMostGap;
    if (follows && before.y() != y)
      painter.drawLine(before, QPointF(begin, y));
    // Bars of rows that are scrolled away must not lie on pinned ones.
    const QRectF bar(begin, y - kBarHeight / 2, std::max(end - begin, 1.0), kBarHeight);
    painter.fillRect(bar.intersected(area), theme.mark);
    before = QPointF(end, y);
    isJoined = true;
    drawnTo = std::max(end, begin + 1.0);
    drawnTrack = part.track;
  }
}

}  // namespace sonde::gui
