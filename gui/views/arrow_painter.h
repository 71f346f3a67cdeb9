// Paints arrows from calls to what they launched, over the slices. Main thread.
#pragma once

#include "gui/views/theme.h"

#include <QPainter>
#include <QRectF>

#include <utility>
#include <vector>

namespace sonde::gui {

// Where the two slices of an arrow are drawn.
struct ArrowEnds {
  QRectF from;
  QRectF to;
};

// A call may return after its kernel has started: an arrow leaves the call where it ended, or where
// the kernel starts if that is earlier, and ends at the kernel's start.
[[nodiscard]] std::pair<QPointF, QPointF> arrowPoints(const ArrowEnds& ends);

void paintArrows(QPainter& painter, const Theme& theme, const std::vector<ArrowEnds>& arrows);

}  // namespace sonde::gui
