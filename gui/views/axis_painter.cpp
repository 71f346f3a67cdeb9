#include "gui/views/axis_painter.h"

#include "gui/trace/time_format.h"

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

constexpr int kMinLabelPx = 110;
constexpr double kMinIterationText = 14.0;

double clampedX(const Viewport& viewport, std::int64_t ns) {
  return std::floor(std::clamp(viewport.xAt(ns), -4.0, viewport.width() + 4.0));
}

std::vector<Tick> ticksOf(const AxisContext& context) {
  const Viewport& viewport = context.viewport;
  return ticks(viewport.beginNs() - context.originNs,
               viewport.endNs() - context.originNs,
               viewport.width(),
               kMinLabelPx);
}

// "iteration 12", "12" or nothing, depending on the room.
QString iterationLabel(const IterationInfo& iteration, double width, const QFontMetrics& metrics) {
  const QString number = QString::number(iteration.number);
  const QString whole =
      iteration.durNs > 0
          ? QStringLiteral("iteration %1  ·  %2").arg(number, formatDuration(iteration.durNs))
          : QStringLiteral("iteration %1").arg(number);
  for (const QString& label : {whole, QStringLiteral("iteration %1").arg(number), number})
    if (metrics.horizontalAdvance(label) + (label == number ? 4 : 40) <= width)
      return label;
  return {};
}

}  // namespace

void paintRuler(QPainter& painter, const QRect& rect, const AxisContext& context) {
  const Theme& theme = context.theme;
  painter.fillRect(rect, theme.panel);
  for (const Tick& tick : ticksOf(context)) {
    const int x = rect.left() + static_cast<int>(context.viewport.xAt(tick.ns + context.originNs));
    const bool major = !tick.label.isEmpty();
    painter.setPen(major ? theme.dimText : theme.border);
    painter.drawLine(x, rect.bottom() - (major ? 8 : 4), x, rect.bottom());
    const QRect label(
        x + 4, rect.top(), painter.fontMetrics().horizontalAdvance(tick.label), rect.height() - 6);
    if (!major || label.right() > rect.right())
      continue;
    painter.setPen(theme.text);
    painter.drawText(label, Qt::AlignVCenter | Qt::AlignLeft, tick.label);
  }
  painter.setPen(theme.border);
  painter.drawLine(rect.bottomLeft(), rect.bottomRight());
}

void paintGrid(QPainter& painter, const QRect& rect, const AxisContext& context) {
  painter.setPen(context.theme.grid);
  for (const Tick& tick : ticksOf(context)) {
    if (tick.label.isEmpty())
      continue;
    const int x = rect.left() + static_cast<int>(context.viewport.xAt(tick.ns + context.originNs));
    painter.drawLine(x, rect.top(), x, rect.bottom());
  }
}

void paintIterations(QPainter& painter,
                     const QRect& rect,
                     const AxisContext& context,
                     const IterationInfo* first,
                     const IterationInfo* last) {
  const Viewport& viewport = context.viewport;
  first = std::partition_point(first, last, [&](const IterationInfo& iteration) {
    return endOf(iteration, context.traceEndNs) < viewport.beginNs();
  });
  const QColor base = context.theme.fill(Kind::Iteration);
  double painted = -1e9;
  for (const auto* at = first; at != last && at->startNs <= viewport.endNs(); ++at) {
    const double x = clampedX(viewport, at->startNs);
    const double right = std::max(clampedX(viewport, endOf(*at, context.traceEndNs)), x + 1);
    if (right <= painted)
      continue;
    painted = right;
    const QRectF band(rect.left() + x, rect.top(), right - x, rect.height());
    QColor fill = base;
    fill.setAlphaF(at->number % 2 == 0 ? 0.55F : 0.32F);
    painter.fillRect(band, fill);
    if (band.width() >= 4)
      painter.fillRect(QRectF(band.left(), band.top(), 1, band.height()), base);
    if (band.width() < kMinIterationText)
      continue;
    const QRectF visible = band.intersected(QRectF(rect));
    painter.setPen(context.theme.text);
    painter.drawText(
        visible, Qt::AlignCenter, iterationLabel(*at, visible.width(), painter.fontMetrics()));
  }
}

void paintSpan(QPainter& painter, const QRect& rect, const AxisContext& context, const Span& span) {
  const double x = rect.left() + clampedX(context.viewport, span.beginNs);
  const double right = rect.left() + clampedX(context.viewport, span.endNs);
  painter.fillRect(QRectF(x, rect.top(), right - x, rect.height()), context.theme.selectionFill);
  painter.setPen(QColor(0x33, 0x77, 0xdd));
  painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()));
  painter.drawLine(QPointF(right, rect.top()), QPointF(right, rect.bottom()));
}

// The words of a note, right of its flag.
void paintNote(QPainter& painter,
               const QRect& ruler,
               double x,
               const AxisContext& context,
               const QString& note) {
  constexpr int kMostWidth = 260;
  const QString text = painter.fontMetrics().elidedText(note, Qt::ElideRight, kMostWidth);
  const QRectF plate(x + 9,
                     ruler.top() + 1,
                     painter.fontMetrics().horizontalAdvance(text) + 8,
                     ruler.height() - 8);
  painter.fillRect(plate, context.theme.mark);
  painter.setPen(Theme::textOn(context.theme.mark));
  painter.drawText(plate, Qt::AlignCenter, text);
}

void paintMarks(QPainter& painter,
                const QRect& ruler,
                int bottom,
                const AxisContext& context,
                const std::vector<Mark>& marks) {
  for (const Mark& mark : marks) {
    const double x = ruler.left() + clampedX(context.viewport, mark.span.beginNs);
    const double right = ruler.left() + clampedX(context.viewport, mark.span.endNs);
    painter.setPen(QPen(context.theme.mark, 1, mark.kept ? Qt::SolidLine : Qt::DashLine));
    painter.drawLine(QPointF(x, ruler.top()), QPointF(x, bottom));
    if (right > x)
      painter.drawLine(QPointF(right, ruler.top()), QPointF(right, bottom));
    const QPointF flag[] = {
        {x, static_cast<double>(ruler.top())}, {x + 8, ruler.top() + 4.0}, {x, ruler.top() + 8.0}};
    painter.setBrush(context.theme.mark);
    painter.drawConvexPolygon(flag, 3);
    if (!mark.note.isEmpty() && x >= ruler.left()) {
      paintNote(painter, ruler, x, context, mark.note);
      continue;
    }
    if (mark.label.isEmpty() ||
        right - x < painter.fontMetrics().horizontalAdvance(mark.label) + 16)
      continue;
    const QRectF label(x + 8, ruler.top(), right - x - 16, 14);
    const int text = painter.fontMetrics().horizontalAdvance(mark.label) + 12;
    const QRectF plate(label.center().x() - text / 2.0, ruler.top(), text, ruler.height() - 9);
    painter.fillRect(plate, context.theme.panel);
    painter.drawText(plate, Qt::AlignCenter, mark.label);
  }
}

std::pair<const IterationInfo*, const IterationInfo*> iterationsOf(const Skeleton& skeleton,
                                                                   int process) {
  const IterationInfo* begin = skeleton.iterations.data();
  const IterationInfo* end = begin + skeleton.iterations.size();
  const auto* first =
      std::partition_point(begin, end, [&](const IterationInfo& i) { return i.process < process; });
  const auto* last = std::partition_point(
      first, end, [&](const IterationInfo& i) { return i.process <= process; });
  return {first, last};
}

}  // namespace sonde::gui
