#include "gui/views/arrow_painter.h"

#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

constexpr double kHead = 7.0;
constexpr double kMinBend = 14.0;
constexpr double kMaxBend = 90.0;
constexpr double kIntoSlice = 4.0;  // distance from a wide slice's left edge to the arrow's end

QPainterPath curveOf(const QPointF& from, const QPointF& to) {
  const double way = to.y() < from.y() ? -1.0 : 1.0;
  const double bend = way * std::clamp(std::abs(to.y() - from.y()) * 0.5, kMinBend, kMaxBend);
  QPainterPath path(from);
  path.cubicTo(from + QPointF(0, bend), to - QPointF(0, bend), to);
  return path;
}

void paintHead(QPainter& painter, const QPointF& from, const QPointF& to) {
  const double back = to.y() < from.y() ? kHead : -kHead;
  const QPointF head[] = {to, to + QPointF(-kHead / 2, back), to + QPointF(kHead / 2, back)};
  painter.drawConvexPolygon(head, 3);
}

}  // namespace

std::pair<QPointF, QPointF> arrowPoints(const ArrowEnds& ends) {
  const auto& [from, to] = ends;
  const bool up = to.center().y() < from.center().y();
  const double target = to.left() + std::min(to.width() / 2, kIntoSlice);
  const double source = std::clamp(target, from.left(), from.right());
  return {QPointF(source, up ? from.top() : from.bottom()),
          QPointF(target, up ? to.bottom() : to.top())};
}

void paintArrows(QPainter& painter, const Theme& theme, const std::vector<ArrowEnds>& arrows) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  QColor halo = theme.background;
  halo.setAlpha(190);
  for (const bool outline : {true, false})
    for (const ArrowEnds& ends : arrows) {
      const auto [from, to] = arrowPoints(ends);
      painter.setPen(outline ? QPen(halo, 4.0) : QPen(theme.arrow, 1.6));
      painter.setBrush(Qt::NoBrush);
      painter.drawPath(curveOf(from, to));
      painter.setBrush(outline ? halo : theme.arrow);
      paintHead(painter, from, to);
    }
  painter.restore();
}

}  // namespace sonde::gui
