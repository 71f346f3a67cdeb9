// Paints the time axis: the ruler, the grid below it, bands of iterations, marks. Free functions;
// main thread. `left` is the x of the viewport's pixel 0.
#pragma once

#include "gui/models/view_state.h"
#include "gui/models/viewport.h"
#include "gui/trace/trace_data.h"
#include "gui/views/theme.h"

#include <QPainter>
#include <QRect>

#include <vector>

namespace sonde::gui {

struct AxisContext {
  const Viewport& viewport;
  const Theme& theme;
  std::int64_t originNs = 0;
  std::int64_t traceEndNs = 0;
};

void paintRuler(QPainter& painter, const QRect& rect, const AxisContext& context);
void paintGrid(QPainter& painter, const QRect& rect, const AxisContext& context);

// Paints the iterations [first, last) of one process as alternating bands with numbers.
void paintIterations(QPainter& painter,
                     const QRect& rect,
                     const AxisContext& context,
                     const IterationInfo* first,
                     const IterationInfo* last);

// Paints a span over `rect` with its edges.
void paintSpan(QPainter& painter, const QRect& rect, const AxisContext& context, const Span& span);

// Paints the marks' flags in the ruler and their lines below it.
void paintMarks(QPainter& painter,
                const QRect& ruler,
                int bottom,
                const AxisContext& context,
                const std::vector<Mark>& marks);

// The iterations of `process`, which are contiguous in the skeleton.
[[nodiscard]] std::pair<const IterationInfo*, const IterationInfo*> iterationsOf(
    const Skeleton& skeleton, int process);

}  // namespace sonde::gui
