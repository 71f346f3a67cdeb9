#include "gui/views/curve_painter.h"

#include <QList>

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

constexpr int kFillAlpha = 70;

}  // namespace

int yOf(double value, const Curve& curve, const QRect& rect) {
  const double span = curve.high - curve.low;
  const double share = span > 0 ? std::clamp((value - curve.low) / span, 0.0, 1.0) : 0.0;
  return rect.bottom() - static_cast<int>(std::lround(share * (rect.height() - 1)));
}

void paintCurve(QPainter& painter,
                const Curve& curve,
                const Viewport& viewport,
                const QRect& rect,
                const QColor& color) {
  const auto xAt = [&](std::int64_t ns) {
    const double x = std::clamp(viewport.xAt(ns), -1.0, static_cast<double>(rect.width()) + 1.0);
    return rect.left() + static_cast<int>(std::floor(x));
  };
  const int zero = yOf(0, curve, rect);
  QList<QRect> fills;
  QList<QRect> lines;
  double before = std::nan("");
  for (std::size_t at = 0; at < curve.points.size(); ++at) {
    const CurvePoint& point = curve.points[at];
    const bool isLast = at + 1 == curve.points.size();
    const std::int64_t endNs = isLast ? curve.endNs : curve.points[at + 1].startNs;
    const double joined = std::exchange(before, point.last);
    if (endNs < viewport.beginNs() || point.startNs > viewport.endNs() || std::isnan(point.min))
      continue;
    const int left = xAt(point.startNs);
    const int right = std::max(xAt(endNs), left + 1);
    // fmin and fmax leave out an unknown value.
    const int top = yOf(std::fmax(point.max, joined), curve, rect);
    const int bottom = yOf(std::fmin(point.min, joined), curve, rect);
    lines.append(QRect(left, top, 1, bottom - top + 1));
    if (std::isnan(point.last))
      continue;
    const int y = yOf(point.last, curve, rect);
    lines.append(QRect(left, y, right - left, 1));
    fills.append(QRect(QPoint(left, std::min(y, zero)), QPoint(right - 1, std::max(y, zero))));
  }
  QColor fill = color;
  fill.setAlpha(kFillAlpha);
  painter.save();
  painter.setPen(Qt::NoPen);
  painter.setBrush(fill);
  painter.drawRects(fills);
  painter.setBrush(color);
  painter.drawRects(lines);
  painter.restore();
}

}  // namespace sonde::gui
