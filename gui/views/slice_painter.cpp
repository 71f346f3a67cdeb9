#include "gui/views/slice_painter.h"

#include "gui/models/kernel_label.h"
#include "gui/models/tracks/track_layout.h"
#include "gui/trace/time_format.h"

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

constexpr double kRowGap = 1.0;
constexpr double kTextMargin = 4.0;
constexpr double kMinTextWidth = 24.0;
constexpr double kMinChars = 3.0;  // fewer letters with an ellipsis are not useful
constexpr double kOutside = 8.0;   // rectangles are cut this far outside the window

QString labelOf(const Block& block, const QString& name) {
  if (block.count == 1 && (block.kind == Kind::Send || block.kind == Kind::Receive))
    return formatBytes(block.bytes);
  const bool kernel = block.kind == Kind::Kernel || block.kind == Kind::CollectiveKernel;
  const QString label = kernel ? kernelLabel(name) : name;
  return block.count > 1 ? QStringLiteral("%1 ×%2").arg(label).arg(block.count) : label;
}

}  // namespace

QString SlicePainter::elided(const QString& label, double room) const {
  // Half of a short label is better than an ellipsis.
  if (room >= averageChar_ * 6)
    return metrics_.elidedText(label, Qt::ElideRight, room);
  QString cut = label;
  while (!cut.isEmpty() && metrics_.horizontalAdvance(cut) > room)
    cut.chop(1);
  return cut;
}

SlicePainter::SlicePainter(QPainter& painter, const PaintContext& context)
    : painter_(painter),
      context_(context),
      metrics_(painter.font()),
      averageChar_(metrics_.averageCharWidth()) {}

QRectF SlicePainter::rectOf(const Block& block,
                            const Viewport& viewport,
                            std::int64_t traceEndNs,
                            QPointF corner) {
  const std::int64_t end = endOf(block, traceEndNs);
  const double last = viewport.width() + kOutside;
  // All columns that it touches, so that neighbours meet without a blurred seam, and so that a sum
  // of short events has the columns of each of them.
  const double left = std::floor(std::clamp(viewport.xAt(block.startNs), -kOutside, last));
  const double right = std::ceil(std::clamp(viewport.xAt(end), -kOutside, last));
  const double width = std::max(right - left, 1.0);
  return {corner.x() + left,
          corner.y() + block.row * TrackLayout::kRowHeight,
          width,
          TrackLayout::kRowHeight - kRowGap};
}

void SlicePainter::paint(const std::vector<Block>& blocks,
                         const QHash<std::uint32_t, QString>& names,
                         QPointF corner) {
  const Viewport& viewport = context_.viewport;
  selectedRect_ = {};
  marks_.clear();
  window_ = QRectF(corner.x(), 0, viewport.width(), 1e6);
  int row = -1;
  double painted = -1e18;  // right edge of the last block of this row
  for (const Block& block : blocks) {
    if (endOf(block, context_.traceEndNs) < viewport.beginNs() || block.startNs > viewport.endNs())
      continue;
    if (block.row != row) {
      row = block.row;
      painted = -1e18;
    }
    const QRectF rect = rectOf(block, viewport, context_.traceEndNs, corner);
    const EventRef ref = refOf(block);
    const bool selected = context_.selected == ref;
    if (rect.right() <= painted && !selected)
      continue;
    paintBlock(block, rect, nameOf(block, names));
    painted = rect.right();
    if (selected)
      selectedRect_ = rect;
    else if (context_.hovered == ref)
      paintOutline(rect, context_.theme.highlight, 1);
  }
  paintMarks();
  if (!selectedRect_.isEmpty())
    paintOutline(selectedRect_, context_.theme.selection, 2);
}

void SlicePainter::paintBlock(const Block& block, const QRectF& rect, const QString& name) {
  const ColorBy by = block.nameId == 0 ? ColorBy::Kind : context_.colorBy;
  QColor fill = context_.theme.fill(by, block.kind, name);
  if (block.count > 1 && block.durNs > 0) {
    // The opacity of a summed block shows its covered share.
    const double busy = static_cast<double>(block.busyNs) / static_cast<double>(block.durNs);
    fill = context_.theme.faded(fill, 0.35 + 0.65 * std::clamp(busy, 0.0, 1.0));
  }
  if (block.kind == Kind::Mark && block.durNs == 0 && block.count == 1) {
    marks_.emplace_back(rect, fill);
    return;
  }
  painter_.fillRect(rect, fill);
  if (rect.width() >= 3.0) {
    const QRectF edge(rect.left(), rect.top(), 1.0, rect.height());
    painter_.fillRect(edge, fill.darker(125));
  }
  if (block.durNs == Block::kOpen)
    paintOpenEnd(rect, fill);
  if (!context_.searched.isEmpty() && name.contains(context_.searched, Qt::CaseInsensitive))
    paintOutline(rect, context_.theme.mark, 1);
  if (rect.width() >= kMinTextWidth)
    paintText(block, rect, fill, name);
}

void SlicePainter::paintOpenEnd(const QRectF& rect, const QColor& fill) {
  const double width = std::min(rect.width(), 24.0);
  const QRectF end(rect.right() - width, rect.top(), width, rect.height());
  painter_.fillRect(end, QBrush(Theme::textOn(fill), Qt::BDiagPattern));
}

void SlicePainter::paintMarks() {
  constexpr double kHalf = 4.5;
  painter_.save();
  painter_.setRenderHint(QPainter::Antialiasing);
  for (const auto& [rect, fill] : marks_) {
    const double x = rect.left() + 0.5;
    const QPointF points[] = {{x, rect.top() + 2},
                              {x + kHalf, rect.center().y() + 0.5},
                              {x, rect.bottom() - 1},
                              {x - kHalf, rect.center().y() + 0.5}};
    painter_.setPen(fill.darker(160));
    painter_.setBrush(fill);
    painter_.drawConvexPolygon(points, 4);
  }
  painter_.restore();
}

void SlicePainter::paintText(const Block& block,
                             const QRectF& rect,
                             const QColor& fill,
                             const QString& name) {
  // The text of a slice that extends beyond the window stays inside it.
  const QRectF visible = rect.intersected(window_);
  const double room = visible.width() - 2 * kTextMargin;
  if (room < averageChar_ * kMinChars)
    return;
  QString label = labelOf(block, name);
  if (static_cast<double>(label.size()) * averageChar_ * 0.5 > room ||
      metrics_.horizontalAdvance(label) > room)
    label = elided(label, room);
  painter_.setPen(Theme::textOn(fill));
  painter_.drawText(visible.adjusted(kTextMargin, 0, -kTextMargin, 0),
                    Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                    label);
}

void SlicePainter::paintOutline(const QRectF& rect, const QColor& color, int width) {
  painter_.save();
  painter_.setPen(QPen(color, width));
  painter_.setBrush(Qt::NoBrush);
  const double inset = width / 2.0;
  painter_.drawRect(rect.adjusted(inset, inset, -inset, -inset));
  painter_.restore();
}

}  // namespace sonde::gui
