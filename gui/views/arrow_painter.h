// Paints arrows from calls to the work they launched, over the slices. Main thread.
#pragma once

#include "gui/views/theme.h"

#include <QPainter>
#include <QRectF>

#include <utility>
#include <vector>

namespace sonde::gui {

// The rectangles of an arrow's two slices.
struct ArrowEnds {
  QRectF from;
  QRectF to;
};

// An arrow leaves the call at its end, or at the kernel's start if that is earlier, since a call
// may return after its kernel has started. It ends at the kernel's start.
[[nodiscard]] std::pair<QPointF, QPointF> arrowPoints(const ArrowEnds& ends);

void paintArrows(QPainter& painter, const Theme& theme, const std::vector<ArrowEnds>& arrows);

}  // namespace sonde::gui
