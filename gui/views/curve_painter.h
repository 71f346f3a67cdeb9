// Paints the curve of a counter: steps over a filled area. Main thread; does not use the database.
#pragma once

#include "gui/models/viewport.h"
#include "gui/trace/trace_data.h"

#include <QColor>
#include <QPainter>
#include <QRect>

#include <cstdint>

namespace sonde::gui {

// The y of a value in `rect`: the curve's smallest value, or 0, is at the bottom.
[[nodiscard]] int yOf(double value, const Curve& curve, const QRect& rect);

// `rect`: the columns of the viewport, and the height of the track. A point is at least one pixel
// wide, and what lies between its values is a vertical line, so no value is lost.
void paintCurve(QPainter& painter,
                const Curve& curve,
                const Viewport& viewport,
                const QRect& rect,
                const QColor& color);

}  // namespace sonde::gui
